import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { build } from 'rolldown';
import { replacedModules } from '../../rolldown.config.js';
import { replace } from '../../scripts/bundle/replace.js';

const require = createRequire(import.meta.url);

/** Packages whose inner modules the build replaces, with the file of ours that imports each. */
const packages = [
  { name: 'undici', home: '/src/api/http/route.ts', input: resolve('scripts/bundle/undici.cjs') },
  { name: 'cli-table3', home: '/src/output/grid.ts', input: require.resolve('cli-table3') },
];

/**
 * A plugin of vitest by which src meets the packages that are in the program (rolldown.config.js), and not those that
 * are installed.
 * @returns {import('rolldown').Plugin & { enforce: 'pre' }}
 */
export function shippedPackages() {
  const folder = resolve('node_modules/.cache/shipped');
  return {
    name: 'shipped-packages',
    enforce: 'pre',
    async buildStart() {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${folder}/llhttp.wasm`, require('undici/lib/llhttp/llhttp-wasm.js'));
      for (const { name, input } of packages) {
        const rows = replacedModules.filter(({ from }) => String(from).includes(name));
        const output = { file: `${folder}/${name}.cjs`, format: /** @type {const} */ ('cjs') };
        await build({ input, platform: 'node', plugins: [replace(rows)], output, logLevel: 'silent' });
      }
    },
    resolveId(id, importer) {
      const shipped = packages.some(({ name, home }) => id === name && importer?.endsWith(home));
      return shipped ? `${folder}/${id}.cjs` : null;
    },
  };
}
