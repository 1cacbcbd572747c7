import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes THIRD-PARTY-LICENSES beside the bundle: name, version and licence text of each package whose code is in it.
 * @returns {import('rolldown').Plugin}
 */
export function licences() {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      const folders = new Set(modules.flatMap(packageFolder));
      const texts = [...folders].map(describe).sort();
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source: heading + texts.join('') });
    },
  };
}

const heading = 'The files of this folder contain code of these packages.\n';

/** @param {string} path of a module; its package is what follows the last node_modules */
function packageFolder(path) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path) ?? [];
}

/**
 * @param {string} folder
 * @throws where a package has no licence that could be quoted
 */
function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  if (!license && !text) throw new Error(`${name}: there is no licence in its package`);
  return `\n${'='.repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`;
}
