/** Without blanks at both ends, as Python's `str.strip` sees them: other than `trim` it leaves U+FEFF and takes U+001C to U+001F and U+0085. */
export function strip(text: string): string {
  const isBlank = (at: number) => /^[\s\x1c-\x1f\x85]$/.test(text.charAt(at)) && text.charAt(at) !== '\ufeff';
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}
