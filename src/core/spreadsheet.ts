/** What a spreadsheet may take for a formula: its signs, also in full width, and the blanks before them. */
const formula = /^[=+\-@\t\n\r\uFF0B\uFF0D\uFF1D\uFF20]/;

/** A text that no spreadsheet takes for a formula: one that could be has an apostrophe before it. */
export function withoutFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Whether a text begins as `withoutFormula` makes one begin. */
export function isWithoutFormula(text: string): boolean {
  return text.startsWith("'") && formula.test(text.slice(1));
}
