import { Document, isScalar, visit } from 'yaml';
import { isObject } from '../core/json.ts';
import type { Formatter } from './presentation.ts';
import { harmful } from './plain.ts';

/**
 * One document; a list is a sequence, written row by row. YAML 1.1 and 1.2 read it alike; double quotes escape what
 * YAML forbids or a terminal obeys.
 */
export function yaml(): Formatter {
  let started = false;
  return {
    one: write,
    row(row) {
      started = true;
      return flatRow(row) ?? write([row]);
    },
    end: () => (started ? '' : '[]\n'),
  };
}

/** The text that `write` gives for a row of short scalars, at a fifth of its time; undefined for any other row. */
function flatRow(row: unknown): string | undefined {
  if (!isObject(row)) return undefined;
  const lines: string[] = [];
  for (const [name, value] of Object.entries(row)) {
    const text = isPlain(name) ? scalar(value) : undefined;
    if (text === undefined) return undefined;
    lines.push(`${lines.length === 0 ? '-' : ' '} ${name}: ${text}\n`);
  }
  return lines.length === 0 ? undefined : lines.join('');
}

function scalar(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean' || (Number.isSafeInteger(value) && value !== 0))
    return String(value);
  if (typeof value !== 'string') return undefined;
  if (isPlain(value)) return value;
  if (value.length > maxScalarChars) return undefined;
  // In a list, since some texts mean something else at the beginning of a document.
  const [line = '', ...others] = write([value]).slice('- '.length).split('\n');
  return others.length === 1 ? line : undefined;
}

const maxScalarChars = 200;

/** A string that every YAML reader takes for itself: it starts with a letter, has no syntax, is no word for a value. */
function isPlain(text: string): boolean {
  return /^[A-Za-z][\w@./+-]*$/.test(text) && !/^(?:(?:y|n|yes|no|on|off|true|false|null)$|e[-+]?\d)/i.test(text);
}

function write(value: unknown): string {
  const document = new Document(value ?? null, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
  });
  return document.toString({ lineWidth: 0 }).replace(harmful(), escapeCharacter);
}

/** Beside what the library quotes: what some readers take for something else, such as a line of spaces in a block. */
function needsQuotes(text: string): boolean {
  return /^(=|<<)$/.test(text) || /^ +$/m.test(text) || text.replaceAll('\n', '').search(harmful()) >= 0;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return character;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}
