import fastStringWidth from 'fast-string-width';
import { printableAscii } from './plain.ts';

/** Columns that a text without control characters takes on a terminal: CJK and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  return printableAscii.test(text) ? text.length : fastStringWidth(text.replaceAll(nonJoiner, ''));
}

/** The text, or as much of it as fits into `limit` columns with an ellipsis; a character is never cut in two. */
export function shorten(text: string, limit: number): string {
  if (displayWidth(text) <= limit) return text;
  let kept = '';
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(text)) {
    if (displayWidth(kept + segment) > limit - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Persian and Indic scripts need the zero-width non-joiner, which the library counts as a column. */
const nonJoiner = '\u200c';

/** Made where a text is cut, since that takes 10 ms. */
let graphemes: Intl.Segmenter | undefined;
