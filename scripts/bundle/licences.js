import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes two files beside the bundle, about each package whose code is in it: THIRD-PARTY-LICENSES with the licence texts, and
 * bill-of-materials.cdx.json (CycloneDX), so that an audit sees packages that are not installed as dependencies.
 * @param {readonly string[]} others packages whose code is in a bundle beside this one
 * @returns {import('rolldown').Plugin}
 */
export function licences(others) {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      const folders = new Set([...modules.flatMap(packageFolder), ...others.map((name) => join('node_modules', name))]);
      const packages = [...folders].map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
      const texts = packages.map(licenceText).join('');
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source: heading + texts });
      this.emitFile({ type: 'asset', fileName: 'bill-of-materials.cdx.json', source: billOfMaterials(packages) });
    },
  };
}

const heading = 'The files of this folder contain code of these packages.\n';

/** @param {string} path of a module; its package is what follows the last node_modules */
function packageFolder(path) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path) ?? [];
}

/** @typedef {{ name: string, version: string, license: string | undefined, text: string }} Bundled */

/**
 * @param {string} folder
 * @returns {Bundled}
 * @throws where a package has no licence that could be quoted
 */
function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  if (!license && !text) throw new Error(`${name}: there is no licence in its package`);
  return { name, version, license, text };
}

/** @param {Bundled} bundled */
function licenceText({ name, version, license, text }) {
  return `\n${'='.repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`;
}

/** @param {readonly Bundled[]} packages */
function billOfMaterials(packages) {
  const components = packages.map(({ name, version, license }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
  }));
  return JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, components }, null, 2);
}
