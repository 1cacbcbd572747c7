import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/**
 * Puts the chunks of `modules`, and what they import, into one file, program.js: one expression, an object with a
 * function for each chunk, in parentheses, so that V8 compiles it at once instead of scanning it first: a first run has
 * no code cache. The launcher compiles it with a code cache; the other chunks stay files. Its first line is the version
 * and a hash of the rest.
 * @param {readonly string[]} modules their paths
 * @returns {import('rolldown').Plugin}
 */
export function pack(modules) {
  return {
    name: 'pack',
    generateBundle(_options, bundle) {
      const packed = [...closureOf(modules, bundle)];
      const functions = packed.map(
        ({ fileName, code }) =>
          `${JSON.stringify(fileName)}: (function (exports, require, module, __filename, __dirname) {\n${withPlainExports(code)}}),\n`,
      );
      for (const { fileName } of packed) delete bundle[fileName];
      const source = ascii(`({\n${functions.join('').replaceAll(moduleWrapper, '$1((function ($2) {')}})\n`);
      const hash = createHash('sha256').update(source).digest('hex');
      this.emitFile({ type: 'asset', fileName: 'program.js', source: `// ${version} ${hash}\n${source}` });
    },
  };
}

/** V8 of Node 20 compiles a function in parentheses at once, an arrow in them when it is called: first run + 5 %. */
const moduleWrapper = /(__(?:commonJS|esm)Min)\(\(\((exports|exports, module|)\) => \{/g;

/**
 * Without the getters of what never changes: the first run compiles each of them, + 2.5 %.
 * @param {string} code of a chunk
 */
function withPlainExports(code) {
  const getter =
    /Object\.defineProperty\(exports, ("\w+"), \{\s+enumerable: true,\s+get: function\(\) \{\s+return (\w+);\s+\}\s+\}\);/g;
  return code.replaceAll(getter, (whole, name, local) => {
    const isFixed = new RegExp(`^(?:const ${local} =|(?:async )?function\\*? ${local}\\()`, 'm').test(code);
    return isFixed ? `exports[${name}] = ${local};` : whole;
  });
}

/**
 * @param {readonly string[]} modules
 * @param {import('rolldown').OutputBundle} bundle
 * @throws Error for a module that is in no chunk
 */
function closureOf(modules, bundle) {
  const chunks = Object.values(bundle).filter((part) => part.type === 'chunk');
  const found = new Set(
    modules.map((id) => {
      const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(id));
      if (!chunk) throw new Error(`no chunk holds ${id}`);
      return chunk;
    }),
  );
  for (const { imports } of found)
    for (const chunk of chunks.filter(({ fileName }) => imports.includes(fileName))) found.add(chunk);
  return found;
}

/**
 * The text in ASCII alone, so that V8 keeps it at one byte a character. Beyond ASCII there are only strings, templates,
 * regular expressions and comments, and an escape means the same in each of them.
 * @param {string} text
 */
function ascii(text) {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
