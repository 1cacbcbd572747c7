export function matchesGlob(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text));
}

export function matchesGlobInAnyCase(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern.toLowerCase(), text.toLowerCase()));
}

/** Matches the whole text: `*` is any text, `?` one character. Takes at most length times length steps. */
function matchesPattern(pattern: string, text: string): boolean {
  const letters = Array.from(text);
  const [first = [], ...others] = pattern.split('*').map((piece) => Array.from(piece));
  const isAt = (place: number, piece: readonly string[]): boolean =>
    piece.every((sign, index) => sign === '?' || sign === letters[place + index]);
  const last = others.pop();
  if (!last) return letters.length === first.length && isAt(0, first);
  let end = isAt(0, first) ? first.length : Infinity;
  for (const piece of others) {
    while (end <= letters.length && !isAt(end, piece)) end += 1;
    end += piece.length;
  }
  return end <= letters.length - last.length && isAt(letters.length - last.length, last);
}
