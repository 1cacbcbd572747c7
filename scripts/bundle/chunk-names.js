import { posix } from 'node:path';

/**
 * Names each chunk in `require` by its path in the folder of the bundle, wherever the chunk that asks lies: the launcher looks the
 * name up, where resolving thirty relative paths costs milliseconds of each start.
 * @returns {import('rolldown').Plugin}
 */
export function chunkNames() {
  return {
    name: 'chunk-names',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        const folder = posix.dirname(chunk.fileName);
        for (const name of [...chunk.imports, ...chunk.dynamicImports]) {
          const path = posix.relative(folder, name);
          const relative = path.startsWith('.') ? path : `./${path}`;
          chunk.code = chunk.code.replaceAll(`require("${relative}")`, `require("${name}")`);
        }
      }
    },
  };
}
