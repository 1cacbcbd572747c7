import { writeJson } from '../../core/json.ts';
import type { System } from '../../core/system.ts';
import { eachEntry, type HistoryEntry } from './history.ts';

export interface CreationPlace extends Pick<HistoryEntry, 'origin'> {
  readonly app_code: number;
  /** The entries of that user in the ledger. */
  readonly told: (user: string) => Promise<HistoryEntry[]>;
}

/** The licenses that runs created for these users. One user is looked for; for many the history is read once. */
export function openCreations(
  system: System,
  users: readonly string[],
  placeOf: (app_code: number) => CreationPlace | undefined,
) {
  const known = new Map<number, Promise<Map<string, HistoryEntry>>>();
  const readAll = (place: CreationPlace): Promise<Map<string, HistoryEntry>> => {
    const reading = known.get(place.app_code) ?? creationsIn(eachEntry(system, 'remote_user'), place);
    known.set(place.app_code, reading);
    return reading;
  };
  return async (app_code: number, user: string): Promise<HistoryEntry | undefined> => {
    const place = placeOf(app_code);
    if (!place) return undefined;
    const entries = await place.told(user);
    const isTold = entries.length > 0;
    if (users.length > 1 && !isTold) return (await readAll(place)).get(user);
    for await (const entry of eachEntry(system, 'remote_user', writeJson(user))) entries.push(entry);
    const isRenamed = entries.some((one) => one.remote_user === user && one.remote_user_before !== undefined);
    if (isRenamed && !isTold) return (await readAll(place)).get(user);
    // Those of one computer are in their order, whatever its clock was set to.
    if (isTold) entries.sort((one, other) => one.time.localeCompare(other.time));
    return (await creationsIn(entries, place)).get(user);
  };
}

/** Licenses that runs created, by the user who has each by the last entry about it. */
async function creationsIn(entries: HistoryEntry[] | AsyncIterable<HistoryEntry>, { origin, app_code }: CreationPlace) {
  const known = new Map<string, HistoryEntry>();
  const taken = new Map<string, HistoryEntry>();
  /** Licenses that got another name before the run that created them told of it: it waits for a list. */
  const left = new Set<string>();
  for await (const entry of entries) {
    const { event, remote_user, remote_user_before: before = remote_user, app_code_before = entry.app_code } = entry;
    if (entry.origin !== origin) continue;
    const isMoved = before !== remote_user || app_code_before !== entry.app_code;
    if (isMoved && app_code_before === app_code) {
      const was = known.get(before) ?? taken.get(before);
      known.delete(before);
      if (was && event === 'changing') taken.set(before, was);
      else taken.delete(before);
      if (was && event === 'refused') known.set(before, was);
      if (was && event === 'changed' && entry.app_code === app_code) known.set(remote_user, entry);
      if (event === 'changed') left.add(`${before} ${entry.license_code_end ?? ''}`);
    }
    const isNew = event === 'created';
    if (entry.app_code === app_code && isNew && !left.has(`${remote_user} ${entry.license_code_end ?? ''}`))
      known.set(remote_user, entry);
  }
  return known;
}
