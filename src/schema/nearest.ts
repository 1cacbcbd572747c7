import { foldName, resolvedPrefix } from './topic.ts';

/** Names of fields and options by the words of people: the first that is known is meant. */
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

/** The known words that a typo turns into this one, the nearest first, at most three. */
export function nearest(word: string, names: readonly string[]): string[] {
  const typed = bare(word);
  return names
    .map((candidate) => ({ candidate, slips: slipsBetween(typed, bare(candidate)) }))
    .filter(({ candidate, slips }) => {
      // One typo in a short word, in a long one fewer than a third of its letters: `sender` is not `header`.
      const isShort = Math.max(typed.length, candidate.length) < 3;
      return slips < (isShort ? 1 : Math.max(2, typed.length / 3));
    })
    .sort((one, other) => one.slips - other.slips)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

function bare(word: string): string {
  return word.toLowerCase().replace(/^--/, '').replaceAll('-', '_');
}

/** How many letters to add, drop, change or swap with their neighbour (optimal string alignment distance). */
export function slipsBetween(one: string, other: string): number {
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

/** Maximum number of names that an error suggests. */
const maxSuggestions = 5;

/** The known names nearest to the wanted one, the nearest first; `✔ ` counts as nothing. */
export function nearNames(wanted: string, names: Iterable<string>): string[] {
  const core = coreOf(wanted);
  const furthest = Math.max(2, Math.ceil(core.length * 0.4));
  return [...names]
    .map((name) => {
      const otherCore = coreOf(name);
      // A name that holds the wanted one is near, however long it is.
      const isPart = core.length >= 3 && otherCore !== core && otherCore.includes(core);
      // `Inez` is near to `Ines Okafor`, `reactions` to a view of a reaction.
      const words = otherCore.split(/[ /]/).map((word) => slipsBetween(core, word));
      const nearest = Math.min(slipsBetween(core, otherCore), ...words.filter((slips) => slips <= core.length / 4));
      return { name, distance: isPart ? 1 : nearest };
    })
    .filter(({ distance }) => distance <= furthest && distance < Math.max(1, core.length))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}

function coreOf(name: string): string {
  return foldName(name.startsWith(resolvedPrefix) ? name.slice(resolvedPrefix.length) : name).trim();
}
