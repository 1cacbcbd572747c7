/** Where a cell begins, also for a program that expects another separator. */
const begins = String.raw`(?<=^|[\t\n\v\f\r\u0085\u2028\u2029,;])`;
/** Signs of a formula, also in full width. */
const signs = String.raw`(?="*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])`;
const formulas = new RegExp(String.raw`${begins}${signs}|^(?=[\t\n\r])`, 'g');
const harmless = new RegExp(String.raw`${begins}'${signs}|^'(?=[\t\n\r])`);

/** A text that no spreadsheet takes for a formula: what could be one has an apostrophe before it. */
export function withoutFormula(text: string): string {
  return text.replace(formulas, "'");
}

export function isWithoutFormula(text: string): boolean {
  return harmless.test(text);
}
