import type { Message } from '../records.ts';

interface Query {
  /** Stems of the loose words. */
  readonly stems: readonly string[];
  /** What stood in quotes, in lower case: it must match literally. */
  readonly phrases: readonly string[];
}

/** Whether a message holds all words and phrases, in its text or its topic (facts page, section 4). */
export function searchTest(operand: string): (message: Message) => boolean {
  const { stems, phrases } = readQuery(operand);
  return ({ content, subject }) => {
    const text = `${subject}\n${content}`.toLowerCase();
    const present = new Set((text.match(word) ?? []).map(stem));
    return stems.every((item) => present.has(item)) && phrases.every((item) => text.includes(item));
  };
}

/** HTML with every match in a span of class highlight; tags and their attributes are left alone. */
export function highlight(htmlText: string, operand: string): string {
  const query = readQuery(operand);
  return htmlText.replace(/(<[^>]*>)|([^<]+)/g, (_all, tag: string | undefined, text: string | undefined) =>
    tag === undefined ? mark(text ?? '', query) : tag,
  );
}

const word = /[\p{L}\p{N}_]+/gu;

function readQuery(operand: string): Query {
  const phrases = [...operand.matchAll(/"([^"]+)"/g)].map((match) => (match[1] ?? '').toLowerCase());
  const rest = operand.replace(/"[^"]*"/g, ' ').toLowerCase();
  return { phrases, stems: (rest.match(word) ?? []).map(stem) };
}

function stem(text: string): string {
  const lower = text.toLowerCase();
  return lower.length > 4 ? lower.replace(/(ings?|edly|ed|ers?|es|s|e)$/, '') : lower;
}

function mark(text: string, { stems, phrases }: Query): string {
  const parts = phrases.map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp([...parts, word.source].join('|'), 'giu');
  return text.replace(pattern, (found) =>
    stems.includes(stem(found)) || phrases.includes(found.toLowerCase())
      ? `<span class="highlight">${found}</span>`
      : found,
  );
}
