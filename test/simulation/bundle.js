import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * A rule of the program that is taken out: `from` stands once in that file of src.
 * @typedef {{ readonly file: string, readonly from: string, readonly to: string }} Change
 */

/**
 * Builds the program with the simulation around it as one module: src/core/outside.ts is replaced by ours, and what
 * `changes` names is taken out of the sources as they are loaded. The path of the module.
 * @param {string} name of the file
 * @param {readonly Change[]} [changes]
 */
export async function bundle(name, changes = []) {
  const folder = here('../../node_modules/.cache/simulation');
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${name}.mjs`;
  const build = await rolldown({
    input: here('play.ts'),
    platform: 'node',
    external: /^(?!(conf|atomically|stubborn-fs|pg)$)[^./]/,
    plugins: [outside, database, confFiles, sizes, without(changes)],
    onLog: () => undefined,
  });
  await build.write({ file, format: 'esm', codeSplitting: false, sourcemap: true, comments: false });
  await build.close();
  return file;
}

/** @type {import('rolldown').Plugin} */
const outside = {
  name: 'outside',
  resolveId: (source) => (/\/core\/outside\.ts$|^\.\/outside\.ts$/.test(source) ? here('outside.ts') : undefined),
};

/** The package behind which the ledger opens PostgreSQL. @type {import('rolldown').Plugin} */
const database = {
  name: 'database',
  resolveId: (source) => (source === 'pg' ? here('ledger-server.ts') : undefined),
};

/** conf and what it is made of open files by themselves. @type {import('rolldown').Plugin} */
const confFiles = {
  name: 'conf-files',
  transform(code, id) {
    if (!/\/node_modules\/(conf|atomically|stubborn-fs)\//.test(id)) return undefined;
    const door = `import { now as nowOfWorld, random as randomOfWorld } from '${here('conf-files.ts')}';\n`;
    const text = code.replaceAll("'node:fs'", `'${here('conf-files.ts')}'`);
    return {
      code: door + text.replaceAll('Math.random()', 'randomOfWorld()').replaceAll('Date.now()', 'nowOfWorld()'),
    };
  },
};

/** Where a size stands that histories make small, and its declaration (sizes.ts). */
const sized = [
  ['page', 'schema/messages.ts', 'export const pageSize = 1000;'],
  ['look', 'jobs/topic/survey-topics.ts', 'const largestPage = maxMessages;'],
  ['batch', 'sandbox/chat/channels.ts', 'export const batchSize = 100;'],
  ['newest', 'jobs/topic/purge-state.ts', 'const leastNewest = 5000;'],
  ['window', 'jobs/archive/pull-archive.ts', 'const outOfOrder = 1000;'],
  ['file', 'commands/archive/folder.ts', 'const defaultBytes = 100_000_000;'],
];

/** @type {import('rolldown').Plugin} */
const sizes = {
  name: 'sizes',
  transform(code, id) {
    const [size] = sized.filter(([, file]) => id.endsWith(`/src/${file}`));
    if (!size) return undefined;
    const [name, file, constant = ''] = size;
    if (!code.includes(constant)) throw new Error(`${file} has no ${constant}`);
    const variable = /const (\w+)/.exec(constant)?.[1];
    const setter = `sized('${name}', (size) => (${variable} = size));`;
    const changed = code.replace(constant, constant.replace('const', 'let'));
    return { code: `import { sized } from '${here('sizes.ts')}';\n${changed}\n${setter}\n` };
  },
};

/**
 * @param {readonly Change[]} changes
 * @returns {import('rolldown').Plugin}
 */
function without(changes) {
  return {
    name: 'without',
    transform(code, id) {
      let text = code;
      for (const { file, from, to } of changes) {
        if (!id.endsWith(`/src/${file}`)) continue;
        if (text.split(from).length !== 2) throw new Error(`${file} has not one place with: ${from}`);
        text = text.replace(from, () => to);
      }
      return { code: text };
    },
  };
}
