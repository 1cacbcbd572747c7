/** A text as one word of bash or zsh, in which nothing is expanded; on one line, whatever the text holds. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) return `$'${text.replace(unseen(), escaped)}'`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What is not seen or would end the line, and what `$'…'` itself reads. Made when it is used (docs/architecture.md, Start-up). */
const unseen = (): RegExp => /[\p{Cc}\p{Cf}\u2028\u2029\\']/gu;

function escaped(sign: string): string {
  if (sign === '\\' || sign === "'") return `\\${sign}`;
  return [...Buffer.from(sign)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
