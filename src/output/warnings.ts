import { plainJson, plainLines } from './plain.ts';

/** A warning as lines without the last line end, harmless where a terminal shows it. */
export function warningText(message: string, { terminal }: { readonly terminal: boolean }): string {
  return `warning: ${terminal ? plainLines(message) : message}`;
}

/** A warning as an object on one line without its end (contract, section 3). */
export function warningJson(message: string): string {
  return plainJson(JSON.stringify({ warning: message }));
}
