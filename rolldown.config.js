import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { help } from './scripts/bundle/help.js';
import { lateBuiltins } from './scripts/bundle/late-builtins.js';
import { licences } from './scripts/bundle/licences.js';
import { pack } from './scripts/bundle/pack.js';
import { replace } from './scripts/bundle/replace.js';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * What dependencies load and this program never reaches. Each row says what its absence costs: instructions of the named command, where
 * nothing else is said. Prices of rows do not add up, since some only move a collection of garbage.
 */
export const replacedModules = [
  // license list + 61 %.
  { module: /^undici$/, from: /\/src\/api\/http\/route\.ts$/, file: here('scripts/bundle/undici.cjs') },
  {
    // license list + 16 %: HTTP/2 is never negotiated. The first run ever + 8 %, 67 kB: no body of ours is a form.
    module: /^\.\/client-h2\.js$|^\.\.\/web\/fetch\/body\.js$/,
    from: /\/undici\/lib\/dispatcher\/client(-h1)?\.js$/,
    code: `${refusing('module.exports', 'undici: HTTP/2')} ${refusing('module.exports.extractBody', 'undici: a form')}`,
  },
  {
    // license list × 3 and messages fetch × 1.5 of CPU time, 35 MB.
    module: /^\.\.\/llhttp\/llhttp(_simd)?-wasm\.js$/,
    from: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    file: here('scripts/bundle/llhttp.cjs'),
  },
  // license list + 4.5 %. The build computes what is read of them.
  {
    module: /^\.\.\/llhttp\/constants\.js$/,
    from: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    code: parserConstants(),
  },
  {
    // license list + 4.5 %. A search tree of the usual names of headers; undici lowers other names itself.
    module: /^\.\/tree$/,
    from: /\/undici\/lib\/core\/util\.js$/,
    code: 'exports.tree = { lookup: () => undefined };',
  },
  {
    // license list + 4.5 %. Node's usual limit, which Node tells only where somebody set another; and a class that no body of ours is of.
    module: /^node:http$/,
    from: /\/undici\/lib\/(core\/util|dispatcher\/client)\.js$/,
    code: `
      const isSet = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].some((text) => /max.http.header.size/.test(text));
      exports.maxHeaderSize = isSet ? process.getBuiltinModule('node:http').maxHeaderSize : 16384;
      exports.IncomingMessage = class {};
    `,
  },
  {
    // license list + 4 %. The module beside the function knows how to show differences.
    module: /^node:assert$/,
    from: /\/undici\/lib\//,
    code: `
      module.exports = (value, message = 'undici: what it relies on is not so') => {
        if (!value) throw Object.assign(new Error(message), { code: 'ERR_ASSERTION' });
      };
    `,
  },
  {
    // license list + 3.6 %. No command is a program of its own.
    module: /^node:child_process$/,
    from: /\/commander\/lib\/command\.js$/,
    code: refusing('exports.spawn', 'commander: a child process'),
  },
  {
    // auth login + 23 %, 270 kB. Our files have no schema.
    module: /^ajv(\/dist\/2020\.js|-formats)$/,
    from: /\/conf\/dist\/source\/index\.js$/,
    code: `${refusing('exports.Ajv2020', 'conf: a schema')} exports.default = undefined;`,
  },
  {
    // 60 kB of a package that promises 4 MB. Our files have no migrations.
    module: /^semver$/,
    from: /\/conf\/dist\/source\/index\.js$/,
    code: 'exports.default = undefined;',
  },
  {
    // 180 kB of a package that promises 4 MB. It parses style attributes, which sanitize.ts allows nowhere.
    module: /^postcss$/,
    from: /\/sanitize-html\/index\.js$/,
    code: refusing('exports.parse', 'sanitize-html: a style attribute'),
  },
  {
    // 205 kB of a package that promises 4 MB: html-to-text imports the other build.
    module: /^htmlparser2$/,
    from: /\/sanitize-html\/index\.js$/,
    file: fileURLToPath(new URL('Parser.js', import.meta.resolve('htmlparser2'))),
  },
  {
    // Every command with a ledger + 32 ms of CPU time: it asks whether it runs on Cloudflare by making a Response, which loads Node's own undici.
    module: /^\.\/stream$/,
    from: /\/pg\/lib\/connection\.js$/,
    code: "exports.getStream = () => new (require('node:net').Socket)(); exports.getSecureStream = (options) => require('node:tls').connect(options);",
  },
  {
    // A table whose columns are right: the package's own string-width is of an older Unicode.
    module: /^string-width$/,
    from: /\/cli-table3\/src\/utils\.js$/,
    file: here('scripts/bundle/string-width.cjs'),
  },
  {
    // Every failure + 14 of Node's modules, of 114. No painter of ours asks chalk what a terminal can show (src/output/paint.ts).
    module: /^#supports-color$/,
    from: /\/chalk\/source\/index\.js$/,
    code: 'export default {};',
  },
  {
    // auth login + a copy of all that process has. It reads the title, at which Node 22 ends under Wine where there is no console.
    module: /^node:process$/,
    from: /\/(atomically|conf|env-paths|stubborn-fs)\/[a-z/]+\.js$/,
    code: 'export default process;',
  },
  {
    // The exit code of a signal: its own listeners end the process before ours have said why.
    module: /^when-exit$/,
    from: /\/atomically\/dist\/utils\/temp\.js$/,
    code: "module.exports = (callback) => process.once('exit', callback);",
  },
];

/** jq reads its WebAssembly module from beside the file that holds its code. */
const jqModule = {
  name: 'jq-module',
  /** @this {import('rolldown').PluginContext} */
  generateBundle() {
    const source = readFileSync(fileURLToPath(import.meta.resolve('jq-wasm/jq.wasm')));
    this.emitFile({ type: 'asset', fileName: 'build/jq.wasm', source });
  },
};

/** Completion reads the tree of commands as data, since it has no time to load them: the program that was just built tells it. */
const commandTree = {
  name: 'command-tree',
  writeBundle() {
    const tree = execFileSync(process.execPath, [here('bin/chatelaine.cjs'), 'commands', '-o', 'json'], { env: {} });
    writeFileSync(here('dist/commands.json'), tree);
  },
};

/** The parser of HTTP, a file instead of 80 kB of base64 in the program. */
const httpParser = {
  name: 'http-parser',
  /** @this {import('rolldown').PluginContext} */
  generateBundle() {
    const source = createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js');
    this.emitFile({ type: 'asset', fileName: 'llhttp.wasm', source });
  },
};

/** What every call of an API loads, and the shortest command: with what they import, these are the program's one packed file. */
const packed = [
  'src/cli/process.ts',
  'src/cli/run.ts',
  'src/api/http/transport.ts',
  'src/commands/license/list-licenses.ts',
  'src/output/tsv.ts',
].map(here);

/**
 * An export that nobody calls or constructs.
 * @param {string} name
 * @param {string} what
 */
function refusing(name, what) {
  return `${name} = function () { throw new Error('${what} is never used'); };`;
}

/** What client-h1.js reads of the parser's constants, computed by the build: computing all of them takes a millisecond. */
function parserConstants() {
  const { TYPE, ERROR } = createRequire(import.meta.url)('undici/lib/llhttp/constants.js');
  return `exports.TYPE = ${JSON.stringify(TYPE)}; exports.ERROR = ${JSON.stringify(ERROR)};`;
}

/** @type {import('rolldown').InputOptions['onLog']} */
const refuseUnresolved = (level, log, handle) => {
  if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
  handle(level, log);
};

/** What `replace` does to each package, for the bill of materials. @type {Map<string, Set<string>>} */
const alterations = new Map();

/** Licences stay; other comments are for who reads the sources, and marks for a minifier. */
const comments = { jsdoc: false, annotation: false };

/** The folder of the package that a module is in. */
const packageOf = /^(node_modules\/(?:@[^/]+\/)?[^/]+)\/.*$/;

/**
 * Chunks that are packages for three quarters lose their blanks: few read them there, and the package has a limit. After
 * `pack`, which reads the code as it is laid out. Each begins with the names of its modules, and of its packages.
 * @type {import('rolldown').Plugin}
 */
const denseVendors = {
  name: 'dense-vendors',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const own = Object.entries(chunk.modules).filter(([id]) => !id.includes('node_modules'));
      const bytes = own.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0);
      if (bytes > chunk.code.length / 4) continue;
      const blanks = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
      const marks = new Set(chunk.moduleIds.map((id) => relative(here('.'), id).replace(packageOf, '$1')));
      const names = [...marks].map((name) => `// ${name}\n`).join('');
      chunk.code = names + minifySync(chunk.fileName, chunk.code, blanks).code;
    }
  },
};

const program = defineConfig({
  onLog: refuseUnresolved,
  input: { main: here('src/cli/process.ts'), help: here('src/cli/help.ts') },
  platform: 'node',
  plugins: [
    replace(replacedModules, alterations),
    lateBuiltins(),
    httpParser,
    licences(['jq-wasm'], alterations),
    pack(packed),
    denseVendors,
  ],
  // The entry may export to its chunks, so that what every run loads is one file.
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist',
    format: 'cjs',
    // The program is compiled from its cache by vm, where import() of a built-in module fails.
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: nameOf,
    cleanDir: true,
    comments,
  },
});

const launcher = defineConfig({
  input: { launch: here('src/cli/launch/launch.ts') },
  platform: 'node',
  plugins: [lateBuiltins(), help()],
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', comments },
});

/** What a thread runs: a file of its own. */
const jqWorker = defineConfig({
  input: { 'jq-worker': here('src/output/jq-worker.cjs') },
  platform: 'node',
  plugins: [jqModule],
  // Glue that a compiler wrote: nobody reads its blanks, and the package has a limit.
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    comments,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  },
});

/** What TAB runs: a file of its own, which loads nothing of the program. */
const completion = defineConfig({
  input: { complete: here('src/cli/completion/complete.ts') },
  platform: 'node',
  plugins: [lateBuiltins(), commandTree],
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', comments },
});

export default [program, launcher, jqWorker, completion];

/**
 * The name of its source for a chunk that is loaded lazily, else that of a module in it. All are in one folder: `./NAME` then means the
 * same in each chunk, and the launcher resolves no path.
 * @param {import('rolldown').PreRenderedChunk} chunk
 */
function nameOf({ facadeModuleId, name }) {
  if (!facadeModuleId) return 'shared-[name].cjs';
  const source = relative(here('src'), facadeModuleId).replaceAll(/[\\/]/g, '-');
  return source.startsWith('..') ? `${name}.cjs` : source.replace(/\.ts$/, '.cjs');
}
