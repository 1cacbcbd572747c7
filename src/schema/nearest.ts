import { foldName, unmarked } from './topic.ts';

/** Names of fields and options by other words that people use: the first name that exists is meant. */
// prettier-ignore
const otherNames: Readonly<Record<string, string>> = {
  topic: 'subject topic_name',
  channel: 'display_recipient stream_id name', stream: 'channel display_recipient stream_id name',
  sender: 'sender_full_name', author: 'sender sender_full_name', message: 'content', body: 'content',
  date: 'time created last_time date_created timestamp', after: 'since', from: 'since', before: 'until older_than',
  login: 'remote_user', username: 'remote_user', customer: 'remote_user', account: 'remote_user email',
  sensors: 'size_allowance', key: 'license_code', license: 'license_code', application: 'app_code',
  xlsx: 'excel', xls: 'excel',
};

/** `Did you mean …?` for its other names, else for known words that contain it, else for the nearest. */
export function suggestion(word: string, names: readonly string[]): string | undefined {
  const typed = bare(word);
  const synonyms = Object.hasOwn(otherNames, typed) ? (otherNames[typed]?.split(' ') ?? []) : [];
  const [other] = synonyms.flatMap((name) => names.filter((one) => bare(one) === name));
  const parts = names.filter((name) => `_${bare(name).replaceAll('/', '_')}_`.includes(`_${typed}_`));
  const meant = other !== undefined ? [other] : parts.length > 0 ? parts.slice(0, 3) : nearest(word, names).slice(0, 1);
  return meant.length > 0 ? `Did you mean ${meant.join(' or ')}?` : undefined;
}

const maxSuggestions = 5;

/**
 * The known names that a typo turns into this one, or that contain it, the nearest first: one typo in a short name,
 * in a long one fewer than a third of its letters. `form` is what is compared.
 */
export function nearest(wanted: string, known: Iterable<string>, form = bare): string[] {
  const core = form(wanted);
  const furthest = core.length < 3 ? 0 : Math.max(1, Math.ceil(core.length / 3) - 1);
  return Array.from(known, (name) => {
    const other = form(name);
    const isPart = core.length >= 3 && other !== core && other.includes(core);
    // `Inez` is near to `Ines Okafor`, `reactions` to a view of a reaction.
    const words = other.split(/[ /]/).map((word) => editDistance(core, word));
    const typos = Math.min(editDistance(core, other), ...words.filter((one) => one <= core.length / 4));
    return { name, distance: isPart ? 1 : typos };
  })
    .filter(({ distance }) => distance <= furthest)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}

/** Like `nearest`, for topics, channels and people: neither `✔ ` nor what `foldName` ignores makes a difference. */
export function nearNames(wanted: string, known: Iterable<string>): string[] {
  return nearest(wanted, known, (name) => foldName(unmarked(name)).trim());
}

function bare(word: string): string {
  return word.toLowerCase().replace(/^--/, '').replaceAll('-', '_');
}

/** How many letters to add, drop, change or swap with their neighbour (optimal string alignment distance). */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
