import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes two files beside the bundle, about each package whose code is in it, and what is compiled into one:
 * THIRD-PARTY-LICENSES with the licence texts, and bill-of-materials.cdx.json (CycloneDX), so that an audit sees
 * packages that are not installed as dependencies, with the hash of each package as it was published, and what this
 * build has put in the place of its modules.
 * @param {readonly string[]} others packages whose code is in a bundle beside this one
 * @param {ReadonlyMap<string, ReadonlySet<string>>} alterations what `replace` noted
 * @returns {import('rolldown').Plugin}
 */
export function licences(others, alterations) {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      const folders = new Set([...modules.flatMap(packageFolder), ...others.map((name) => `node_modules/${name}`)]);
      const found = [...folders].map((folder) => describe(folder, [...(alterations.get(folder) ?? [])].sort()));
      // A package that is installed at two places is one.
      const packages = [...new Map(found.map((one) => [`${one.name} ${one.version}`, one])).entries()]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, one]) => one);
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source: licenceTexts(packages) });
      this.emitFile({ type: 'asset', fileName: 'bill-of-materials.cdx.json', source: billOfMaterials(packages) });
    },
  };
}

/** @param {string} path of a module; its package is what follows the last node_modules */
export function packageFolder(path) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/')) ?? [];
}

/**
 * What is compiled into a WebAssembly file of a package, which does not say so. Of jq.wasm: its configure line
 * (`--with-oniguruma=builtin`, `CC=emcc`) and `have_decnum`; versions are those of the sources of that jq, and missing
 * where neither these nor the package names one. The texts are those of Debian's libjq1 1.8.2-1, libonig5 6.9.10-1,
 * emscripten and nodejs.
 * @typedef {{ readonly license: string, readonly purl: string, readonly version?: string }} Part
 * @type {Readonly<Record<string, Readonly<Record<string, Part>>>>} by the name of its text in the folder `licences`
 */
const compiledIn = {
  'jq-wasm': {
    jq: { license: 'MIT', purl: 'pkg:github/jqlang/jq@jq-1.8.2', version: '1.8.2' },
    dtoa: { license: 'dtoa', purl: 'pkg:generic/dtoa' },
    decNumber: { license: 'ICU', purl: 'pkg:generic/decnumber@3.68', version: '3.68' },
    oniguruma: { license: 'BSD-2-Clause', purl: 'pkg:github/kkos/oniguruma@v6.9.10', version: '6.9.10' },
    emscripten: { license: 'MIT', purl: 'pkg:github/emscripten-core/emscripten' },
    musl: { license: 'MIT', purl: 'pkg:generic/musl' },
  },
  undici: { llhttp: { license: 'MIT', purl: 'pkg:github/nodejs/llhttp' } },
};

/** @typedef {{ name: string, license: string, text: string }} Licensed */
/**
 * @typedef {Licensed & { version: string, sha512: string, changes: readonly string[], parts: readonly (Licensed &
 * Part)[] }} Bundled
 */

/**
 * @param {string} folder
 * @param {readonly string[]} changes
 * @returns {Bundled}
 * @throws where a package names no licence, has no text of it, or has no hash in package-lock.json
 */
function describe(folder, changes) {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = (textIn(folder, /^(licen[cs]e|copying)/i) ?? readmeChapter(folder) ?? '').trim();
  // Before 2014 package.json had a list of objects.
  const named = license ?? licenses?.[0]?.type;
  if (!named || !text)
    throw new Error(`${name}: there is no ${named ? 'text of its licence' : 'licence'} in its package`);
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { integrity = '' } = packages[folder.slice(folder.indexOf('node_modules/'))] ?? {};
  const [, base64] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  if (base64 === undefined)
    throw new Error(`${name}: package-lock.json has no SHA-512 of it where it is installed: run npm ci`);
  const parts = Object.entries(compiledIn[name] ?? {}).map(([part, about]) => ({
    ...{ name: part, ...about },
    text: readFileSync(join(import.meta.dirname, 'licences', `${part}.txt`), 'utf8').trim(),
  }));
  return { name, version, license: named, text, sha512: Buffer.from(base64, 'base64').toString('hex'), changes, parts };
}

/**
 * @param {string} folder
 * @param {RegExp} name
 */
function textIn(folder, name) {
  const file = readdirSync(folder).find((entry) => name.test(entry));
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8');
}

/** The chapter that some packages have in the place of a file. @param {string} folder */
function readmeChapter(folder) {
  return /^#+ licen[cs]e\s*\n([^#]+)/im.exec(textIn(folder, /^readme/i) ?? '')?.[1];
}

/** Each permission once, below the notices of the packages that share it. @param {readonly Bundled[]} packages */
function licenceTexts(packages) {
  /** @type {Map<string, { permission: string, notices: Map<string, string[]> }>} */
  const sharing = new Map();
  for (const { name, version, license, text, parts } of packages) {
    add(text, `${name} ${version} (${license})`);
    for (const part of parts) add(part.text, `${part.name}, in ${name} ${version} (${part.license})`);
  }
  const texts = [...sharing.values()].map(({ permission, notices }) => {
    const named = [...notices].map(([notice, names]) => [names.join('\n'), notice].filter(Boolean).join('\n\n'));
    return `\n${'='.repeat(80)}\n${named.join(`\n\n${'-'.repeat(80)}\n`)}\n\n${permission}\n`;
  });
  return `The files of this folder contain code of these packages.\n${texts.join('')}`;

  /** @param {string} text @param {string} name */
  function add(text, name) {
    const begin = Math.max(text.indexOf('Permission is hereby granted'), 0);
    const [notice, permission] = [text.slice(0, begin).trim(), text.slice(begin)];
    // Packages break the lines of one text at their own places.
    const key = permission.replace(/\s+/g, ' ');
    const shared = sharing.get(key) ?? { permission, notices: new Map() };
    shared.notices.set(notice, [...(shared.notices.get(notice) ?? []), name]);
    sharing.set(key, shared);
  }
}

const altered = 'Modules of this package import text of chatelaine in the place of another module:';

/** Without time and serial number, so that the same sources give the same file. @param {readonly Bundled[]} packages */
function billOfMaterials(packages) {
  const ours = JSON.parse(readFileSync('package.json', 'utf8'));
  const metadata = { component: { ...component('application', ours), licenses: [{ expression: ours.license }] } };
  const components = packages.map(({ sha512, license, changes, parts, ...named }) => ({
    ...component('library', named),
    hashes: [{ alg: 'SHA-512', content: sha512 }],
    licenses: [{ expression: license }],
    ...(parts.length > 0 && {
      components: parts.map(({ text: _text, license: expression, ...part }) => ({
        ...{ type: 'library', ...part },
        licenses: [{ expression }],
      })),
    }),
    ...(changes.length > 0 && {
      pedigree: { ancestors: [component('library', named)], notes: `${altered} ${changes.join(' ')}` },
    }),
  }));
  return JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata, components });
}

/**
 * @param {'application' | 'library'} type
 * @param {{ name: string, version: string }} named
 */
function component(type, { name, version }) {
  return { type, name, version, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` };
}
