import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { chunkNames } from './scripts/bundle/chunk-names.js';
import { help } from './scripts/bundle/help.js';
import { lateBuiltins } from './scripts/bundle/late-builtins.js';
import { licences } from './scripts/bundle/licences.js';
import { pack } from './scripts/bundle/pack.js';
import { plainExports } from './scripts/bundle/plain-exports.js';
import { replace } from './scripts/bundle/replace.js';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What our dependencies load and this program never reaches; each row is start-up time (bench/figures/start-up.js), but for the last. */
const replaced = replace([
  { module: 'undici', from: /\/src\/api\/http\/transport\.ts$/, file: here('scripts/bundle/undici.cjs') },
  {
    module: './client-h2.js',
    from: /\/undici\/lib\/dispatcher\/client\.js$/,
    code: "module.exports = () => { throw new Error('HTTP/2 is never negotiated'); };",
  },
  {
    module: '../web/fetch/body.js',
    from: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    code: "exports.extractBody = () => { throw new Error('bodies are strings'); };",
  },
  ...['../llhttp/llhttp_simd-wasm.js', '../llhttp/llhttp-wasm.js'].map((module) => ({
    module,
    from: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    file: here('scripts/bundle/llhttp.cjs'),
  })),
  {
    module: '../llhttp/constants.js',
    from: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    code: parserConstants(),
  },
  {
    // Known names of headers, and a search tree of them: undici lowers the others by hand, and so it does all.
    module: './constants',
    from: /\/undici\/lib\/core\/(?:util|request)\.js$/,
    code: 'exports.headerNameLowerCasedRecord = Object.create(null);',
  },
  {
    module: './tree',
    from: /\/undici\/lib\/core\/util\.js$/,
    code: 'exports.tree = { lookup: () => undefined };',
  },
  {
    // Nobody subscribes to them.
    module: '../core/diagnostics.js',
    from: /\/undici\/lib\/dispatcher\/client(?:-h1)?\.js$/,
    code: silentChannels(),
  },
  {
    module: './diagnostics.js',
    from: /\/undici\/lib\/core\/request\.js$/,
    code: silentChannels(),
  },
  {
    module: 'node:assert',
    from: /\/undici\/lib\/.*\.js$/,
    code: `module.exports = (value, message) => {
      if (!value) throw message instanceof Error ? message : new Error(message ?? 'undici: an assertion failed');
    };`,
  },
  {
    // Node's own limit, and a class that no body of ours is of.
    module: 'node:http',
    from: /\/undici\/lib\/(?:core\/util|dispatcher\/client)\.js$/,
    code: 'exports.maxHeaderSize = 16384; exports.IncomingMessage = class {};',
  },
  {
    module: 'node:child_process',
    from: /\/commander\/lib\/command\.js$/,
    code: "exports.spawn = () => { throw new Error('no command is a program of its own'); };",
  },
  ...['./help.js', './lib/help.js'].map((module) => ({
    module,
    from: /\/commander\/(?:lib\/command|index)\.js$/,
    code: "exports.Help = class { constructor() { throw new Error('our own writer writes help'); } }; exports.stripColor = (text) => text;",
  })),
  {
    module: './suggestSimilar',
    from: /\/commander\/lib\/command\.js$/,
    code: "exports.suggestSimilar = () => { throw new Error('suggestions are our own'); };",
  },
  {
    module: 'ajv/dist/2020.js',
    from: /\/conf\/dist\/source\/index\.js$/,
    code: "exports.Ajv2020 = class { constructor() { throw new Error('our files have no schema'); } };",
  },
  { module: 'ajv-formats', from: /\/conf\/dist\/source\/index\.js$/, code: 'exports.default = undefined;' },
  // pg with its parser written in C, and on a platform without sockets.
  { module: './native', from: /\/pg\/lib\/index\.js$/, code: "throw new Error('pg-native is not used');" },
  { module: 'pg-cloudflare', from: /\/pg\/lib\/stream\.js$/, code: 'exports.CloudflareSocket = undefined;' },
  {
    module: 'pgpass',
    from: /\/pg\/lib\/client\.js$/,
    code: "module.exports = () => { throw new Error('the password is always given'); };",
  },
  {
    // It parses style attributes, which sanitize.ts allows nowhere.
    module: 'postcss',
    from: /\/sanitize-html\/index\.js$/,
    code: "exports.parse = () => { throw new Error('no style attribute is allowed'); };",
  },
  {
    // Its own listeners to signals end the process before ours have said why, and with another exit code.
    module: 'when-exit',
    from: /\/atomically\/dist\/utils\/temp\.js$/,
    code: "module.exports = (callback) => process.once('exit', callback);",
  },
]);

/** jq reads its WebAssembly module from beside the file that holds its code. */
const jqModule = {
  name: 'jq-module',
  /** @this {import('rolldown').PluginContext} */
  generateBundle() {
    const source = readFileSync(fileURLToPath(import.meta.resolve('jq-wasm/jq.wasm')));
    this.emitFile({ type: 'asset', fileName: 'output/build/jq.wasm', source });
  },
};

/** Completion reads the tree of commands as data, since it has no time to load them: the program that was just built tells it. */
const commandTree = {
  name: 'command-tree',
  writeBundle() {
    const tree = execFileSync(process.execPath, [here('bin/chatelaine.cjs'), 'commands', '-o', 'json'], { env: {} });
    writeFileSync(here('dist/commands.json'), JSON.stringify(JSON.parse(tree.toString())));
  },
};

/** The parser of HTTP, a file instead of 80 kB of base64 in the program. */
const httpParser = {
  name: 'http-parser',
  /** @this {import('rolldown').PluginContext} */
  generateBundle() {
    const source = createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js');
    this.emitFile({ type: 'asset', fileName: 'api/http/llhttp.wasm', source });
  },
};

/** What every call of an API loads, and the shortest command: with what they import, these are the program's one packed file. */
const packed = [
  'src/cli/process.ts',
  'src/cli/run.ts',
  'src/api/http/transport.ts',
  'src/commands/license/list.ts',
  'src/output/json.ts',
  'src/output/ndjson.ts',
  'src/output/tsv.ts',
].map(here);

/** What client-h1.js reads of the parser's constants, computed by the build: computing all of them takes a millisecond. */
function parserConstants() {
  const { TYPE, ERROR } = createRequire(import.meta.url)('undici/lib/llhttp/constants.js');
  return `exports.TYPE = ${JSON.stringify(TYPE)}; exports.ERROR = ${JSON.stringify(ERROR)};`;
}

/** undici's channels of node:diagnostics_channel, without subscribers. */
function silentChannels() {
  const { channels } = createRequire(import.meta.url)('undici/lib/core/diagnostics.js');
  const silent = Object.keys(channels).map((name) => [name, { hasSubscribers: false }]);
  return `exports.channels = ${JSON.stringify(Object.fromEntries(silent))};`;
}

/** @type {import('rolldown').InputOptions['onLog']} */
const refuseUnresolved = (level, log, handle) => {
  if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
  handle(level, log);
};

const program = defineConfig({
  onLog: refuseUnresolved,
  input: { main: here('src/cli/process.ts'), help: here('src/cli/help-texts.ts') },
  platform: 'node',
  plugins: [replaced, lateBuiltins(), plainExports(), jqModule, httpParser, licences(), chunkNames(), pack(packed)],
  // The entry may export to its chunks, so that what every run loads is one file.
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: nameOf,
    cleanDir: true,
    comments: { jsdoc: false },
  },
});

const launcher = defineConfig({
  input: { launch: here('src/cli/launch/launch.ts') },
  platform: 'node',
  plugins: [lateBuiltins(), help()],
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs' },
});

/** What TAB runs: a file of its own, which loads nothing of the program. */
const completion = defineConfig({
  input: { complete: here('src/cli/completion/process.ts') },
  platform: 'node',
  plugins: [lateBuiltins(), commandTree],
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs' },
});

export default [program, launcher, completion];

/**
 * A chunk that is loaded lazily has the name of its source; what several share stands in a folder of its own.
 * @param {import('rolldown').PreRenderedChunk} chunk
 */
function nameOf({ facadeModuleId, name }) {
  if (!facadeModuleId) return 'shared/[name].cjs';
  const source = relative(here('src'), facadeModuleId).replaceAll('\\', '/');
  return source.startsWith('..') ? `${name}.cjs` : source.replace(/\.ts$/, '.cjs');
}
