import { packageFolder } from './licences.js';

/**
 * Puts our own text, or a file, in the place of a module that the program never reaches. A row names the importing
 * file, so that nothing else is touched; a row that matched nothing fails the build, since its package has changed.
 * @param {readonly { module: RegExp, from: RegExp, file?: string, code?: string }[]} rows
 * @param {Map<string, Set<string>>} alterations where it notes the replaced modules, by the folder of the package that
 * imports them
 * @returns {import('rolldown').Plugin}
 */
export function replace(rows, alterations = new Map()) {
  const unused = new Set(rows);
  return {
    name: 'replace',
    resolveId(module, importer) {
      const path = slashed(importer);
      const row = rows.find((one) => one.module.test(module) && one.from.test(path));
      if (!row) return null;
      unused.delete(row);
      // Where a module of ours imports it, no package is changed.
      for (const folder of packageFolder(path)) {
        const notes = alterations.get(folder) ?? new Set();
        alterations.set(folder, notes.add(`${path.slice(folder.length + 1)}: ${module}.`));
      }
      return row.file ?? `\0absent/${rows.indexOf(row)}/${module.split('/').at(-1)}`;
    },
    load(id) {
      const [, index] = /^\0absent\/(\d+)\//.exec(id) ?? [];
      return index === undefined ? null : (rows[Number(index)]?.code ?? null);
    },
    buildEnd(error) {
      const names = [...unused].map(({ module, from }) => `${module} from ${from}`);
      if (!error && names.length > 0) this.error(`nothing imports any longer: ${names.join(', ')}`);
    },
  };
}

/** @param {string | undefined} path */
function slashed(path = '') {
  return path.replaceAll('\\', '/');
}
