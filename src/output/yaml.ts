import { Document, isScalar, visit } from 'yaml';
import type { Formatter } from './presentation.ts';
import { harmful } from './plain.ts';

/** One document that YAML 1.1 and 1.2 read alike; double quotes escape what YAML forbids or a terminal obeys. */
export function yaml(): Formatter {
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
  return document.toString({ lineWidth: 0 }).replace(harmful(), escapeCharacter);
}

/** Texts that some readers misread although the library does not quote them, as a line of spaces in a block. */
function needsQuotes(text: string): boolean {
  return /^(=|<<)$/.test(text) || /^ +$/m.test(text) || text.replaceAll('\n', '').search(harmful()) >= 0;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return character;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}
