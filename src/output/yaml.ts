import { Document, isScalar, visit } from 'yaml';
import type { Form } from './form.ts';
import { harmful } from './plain.ts';

/**
 * One document; a list is a sequence, written row by row. It reads back the same by YAML 1.1 and 1.2, and holds no character
 * that YAML forbids or a terminal obeys, since double-quoted strings can name them all.
 */
export function yaml(): Form {
  let started = false;
  return {
    one: write,
    row(row) {
      started = true;
      return write([row]);
    },
    end: () => (started ? '' : '[]\n'),
  };
}

function write(value: unknown): string {
  const document = new Document(value ?? null, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
  });
  return document.toString({ lineWidth: 0 }).replace(harmful, escapeCharacter);
}

/** Beside what the library quotes: what some readers take for something else, among it a line of nothing but spaces in a block. */
function needsQuotes(text: string): boolean {
  return /^(=|<<)$/.test(text) || /^ +$/m.test(text) || text.replaceAll('\n', '').search(harmful) >= 0;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return character;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}
