import { plainJson, plainLines } from './plain.ts';

/** A warning as lines without the last line end, harmless where a terminal shows it. */
export function warningText(message: string, { terminal }: { readonly terminal: boolean }): string {
  return `warning: ${indented(terminal ? plainLines(message) : message)}`;
}

/** Further lines are indented: after a line break, a server's words must not look like a line of chatelaine. */
export function indented(text: string): string {
  return text.replace(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, '\n  ');
}

/** A warning as an object on one line without its end. */
export function warningJson(message: string): string {
  return plainJson(JSON.stringify({ warning: message }));
}
