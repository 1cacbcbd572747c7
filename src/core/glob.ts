export function matchesGlob(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text));
}

export function matchesGlobInAnyCase(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern.toLowerCase(), text.toLowerCase()));
}

/** Matches the whole text: `*` is any text, `?` one character. Takes at most length times length steps. */
function matchesPattern(pattern: string, text: string): boolean {
  const [parts, letters] = [Array.from(pattern), Array.from(text)];
  let [part, letter] = [0, 0];
  let star: { part: number; letter: number } | undefined;
  while (letter < letters.length) {
    if (parts[part] === '*') {
      star = { part, letter };
      part += 1;
    } else if (part < parts.length && (parts[part] === '?' || parts[part] === letters[letter])) {
      part += 1;
      letter += 1;
    } else if (star) {
      star.letter += 1;
      part = star.part + 1;
      letter = star.letter;
    } else return false;
  }
  return parts.slice(part).every((rest) => rest === '*');
}
