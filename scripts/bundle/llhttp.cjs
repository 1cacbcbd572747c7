// @ts-nocheck undici's own files have no types.
'use strict';
// In place of undici's two modules that hold llhttp as base64: the bytes of the variant that runs everywhere, from the file beside
// program.js. undici compiles them right after this module, at the first connection.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

// Optimizing the parser costs 45 ms at exit or 30 MB in a long run, and gains nothing. V8 copies the budget when it compiles the
// module; the flag goes back to its default before anything else is compiled, since V8 refuses code caches made under other flags.
const defaultBudget = process.versions.v8.startsWith('11.') ? 1_800_000 : 13_000_000;
setFlagsFromString('--wasm-tiering-budget=2147483647');
queueMicrotask(() => setFlagsFromString(`--wasm-tiering-budget=${defaultBudget}`));

module.exports = readFileSync(join(__dirname, 'llhttp.wasm'));
