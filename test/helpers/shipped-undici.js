import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { build } from 'rolldown';
import { replacedModules } from '../../rolldown.config.js';
import { replace } from '../../scripts/bundle/replace.js';

/**
 * A plugin of vitest by which src meets the undici that is in the program (rolldown.config.js), and not the one of the package.
 * @returns {import('rolldown').Plugin & { enforce: 'pre' }}
 */
export function shippedUndici() {
  const folder = resolve('node_modules/.cache/undici');
  return {
    name: 'shipped-undici',
    enforce: 'pre',
    async buildStart() {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${folder}/llhttp.wasm`, createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js'));
      const rows = replacedModules.filter(({ from }) => String(from).includes('undici'));
      const output = { file: `${folder}/undici.cjs`, format: /** @type {const} */ ('cjs') };
      const input = resolve('scripts/bundle/undici.cjs');
      await build({ input, platform: 'node', plugins: [replace(rows)], output, logLevel: 'silent' });
    },
    resolveId: (id, importer) =>
      id === 'undici' && importer?.endsWith('/src/api/http/route.ts') ? `${folder}/undici.cjs` : null,
  };
}
