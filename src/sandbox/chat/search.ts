import type { MessageRecord } from '../records.ts';

/**
 * Whether a message holds all words and phrases, in its text or its topic. A query of stop words or punctuation alone
 * finds nothing (docs/apis.md, Narrow operators).
 */
export function searchTest(operand: string): (message: MessageRecord) => boolean {
  const { stems, phrases } = readQuery(operand);
  if (stems.size === 0) return () => false;
  return ({ content, subject }) => {
    const text = `${subject}\n${content}`.toLowerCase();
    const present = new Set((text.match(word) ?? []).map(stem));
    return [...stems].every((item) => present.has(item)) && phrases.every((item) => text.includes(item));
  };
}

/** HTML with every match in a span of class highlight; tags and their attributes are left alone. */
export function highlight(htmlText: string, operand: string): string {
  const { stems } = readQuery(operand);
  const mark = (found: string) => (stems.has(stem(found)) ? `<span class="highlight">${found}</span>` : found);
  return htmlText.replace(/<[^<>]*>|[\p{L}\p{N}_]+/gu, (found) => (found.startsWith('<') ? found : mark(found)));
}

const word = /[\p{L}\p{N}_]+/gu;

/** The stems of all words, and what is in quotes, in lower case: it must match literally too. */
function readQuery(operand: string) {
  const text = operand.toLowerCase().replace(/<[^<>]*>/g, ' ');
  const phrases = text
    .split('"')
    .slice(0, -1)
    .filter((phrase, index) => index % 2 === 1 && phrase !== '');
  const words = (text.match(word) ?? []).filter((item) => !stopWords.has(item));
  return { phrases, stems: new Set(words.map(stem)) };
}

function stem(text: string): string {
  const lower = text.toLowerCase();
  return lower.length > 4 ? lower.replace(/(ings?|edly|ed|ers?|es|s|e)$/, '') : lower;
}

/** English words that the full-text search of PostgreSQL leaves out. */
const stopWords: ReadonlySet<string> = new Set(
  [
    'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its',
    'itself they them their theirs themselves what which who whom this that these those am is are was were be been being have',
    'has had having do does did doing a an the and but if or because as until while of at by for with about against between',
    'into through during before after above below to from up down in out on off over under again further then once here there',
    'when where why how all any both each few more most other some such no nor not only own same so than too very s t can will',
    'just don should now',
  ].flatMap((line) => line.split(' ')),
);
