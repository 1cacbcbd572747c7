/**
 * Puts our own text, or a file, in the place of a module that the program never reaches. A row names the importing file, so that
 * nothing else is touched; a row that matched nothing fails the build, since its package has changed.
 * @param {readonly { module: RegExp, from: RegExp, file?: string, code?: string }[]} rows
 * @returns {import('rolldown').Plugin}
 */
export function replace(rows) {
  const unused = new Set(rows);
  return {
    name: 'replace',
    resolveId(module, importer) {
      const row = rows.find((one) => one.module.test(module) && one.from.test(slashed(importer)));
      if (!row) return null;
      unused.delete(row);
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
