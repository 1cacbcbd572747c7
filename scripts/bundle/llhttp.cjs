// @ts-nocheck undici's own files have no types.
'use strict';
// In place of undici's two modules that hold llhttp as base64: the bytes of the variant that runs everywhere, from the
// file beside program.js. undici compiles them right after this module, at the first connection.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

// Optimizing the parser costs 45 ms at exit, or 35 MB after a few hundred requests, and gains nothing: all of it is
// compiled at once, by the fast compiler alone. The flags go back to their defaults before anything else is compiled,
// since V8 refuses code caches that were made under other flags. Not by queueMicrotask, which compiles more of Node's
// own code.
const flags = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'];
for (const flag of flags) setFlagsFromString(`--no-${flag}`);
void Promise.resolve().then(() => {
  for (const flag of flags) setFlagsFromString(`--${flag}`);
});

module.exports = readFileSync(join(__dirname, 'llhttp.wasm'));
