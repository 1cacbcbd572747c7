import { wrapAnsi } from 'fast-wrap-ansi';

/** Narrower than this, text is unreadable when it is wrapped by words. */
const minColumns = 10;

/** Lines that fit into `columns` (0: unlimited) after `indent`. A continued quote, item or code keeps its place. */
export function wrapLines(text: string, columns: number, indent: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [lead = ''] = /^\s*(?:(?:> ?|\| )*\s*(?:• |\d+\. )?)/.exec(line) ?? [];
    const rest = line.slice(lead.length);
    const room = Math.max(minColumns, columns - indent.length - lead.length);
    if (columns === 0 || rest === '') return [(indent + line).trimEnd()];
    const [first = '', ...others] = wrapAnsi(rest, room, { hard: true, trim: true }).split('\n');
    // Signs of quotes stay, those of list items become blanks.
    const hanging = lead.replace(/• |\d+\. /, (sign) => ' '.repeat(sign.length));
    return [indent + lead + first, ...others.map((other) => indent + hanging + other)];
  });
}

/** One line as lines of at most `room` columns, a longer word in pieces. */
export function fold(text: string, room: number): string[] {
  return wrapAnsi(text, room, { hard: true }).split('\n');
}
