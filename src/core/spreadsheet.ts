/** Where a cell begins, also for a program that expects another separator. */
const begins = String.raw`(?<=^|[\t\n\v\f\r\u0085\u2028\u2029,;])`;
/** Signs of a formula, also in full width, and behind characters that a spreadsheet drops. */
const signs = String.raw`(?=["\p{Cc}\p{Cf}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])`;
const formulas = new RegExp(String.raw`${begins}${signs}|^(?=[\t\n\r])`, 'gu');
const harmless = new RegExp(String.raw`${begins}'${signs}|^'(?=[\t\n\r])`, 'u');

/** A text that no spreadsheet takes for a formula: what could be one has an apostrophe before it. */
export function withoutFormula(text: string): string {
  return text.replace(formulas, "'");
}

export function isWithoutFormula(text: string): boolean {
  return harmless.test(text);
}
