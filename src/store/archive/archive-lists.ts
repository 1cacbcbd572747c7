import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { exists, writePrivate } from '../disk/files.ts';
import { recordLine } from '../roster/ndjson.ts';
import { manifestFile, type Manifest, differenceOf, listNames, type ListName } from './archive-head.ts';
import { fileRecordIn } from './kept-file.ts';
import { readList, type LineList } from './line-file.ts';
import { readPartList, relistParts } from './part-list.ts';
import { partNumberIn, isMessage, type ArchivedMessage } from './part.ts';

/** Something that is wrong with a file of an archive. */
export interface FileDamage {
  readonly file: string;
  readonly problem: string;
}

/** The lists of an archive, as far as they can be read. @throws Failure config where a file cannot be read */
export async function readLists(folder: string) {
  return {
    'parts.ndjson': await readPartList(folder),
    'changes.ndjson': await readList(join(folder, 'changes.ndjson'), changeIn, 'a change of an archived message'),
    'files.ndjson': await readList(join(folder, 'files.ndjson'), fileRecordIn, 'an attached file'),
    'purge.ndjson': await readList(join(folder, 'purge.ndjson'), (record) => record, 'a record of a purge'),
  } as const;
}

export type Lists = Awaited<ReturnType<typeof readLists>>;

/** What is wrong with a list. */
export function damageOf(file: ListName, { damaged, bytes }: LineList<unknown>, { state }: Manifest): FileDamage[] {
  if (damaged.length > 0) return damaged.map((problem) => ({ file, problem }));
  const isChanged = differenceOf(bytes, state.lists[file]) === 'changed';
  return isChanged ? [{ file, problem: 'it is not what the last run left: it was cut or changed' }] : [];
}

/** Why the archive may lack what the server had. The record of a purge grows after the archive is whole. */
export function unfinishedIn({ state }: Manifest, lists: Lists): FileDamage[] {
  const longer = listNames.filter((name) => {
    if (name === 'purge.ndjson') return false;
    const seal = state.lists[name];
    const { bytes } = lists[name];
    // Before the first list was sealed, whatever is there was left by a run that did not end.
    return seal ? differenceOf(bytes, seal) === 'longer' : state.complete !== undefined && bytes.length > 0;
  });
  return [
    ...(state.complete === false ? [{ file: manifestFile, problem: 'the last pull did not reach its end' }] : []),
    ...longer.map((file) => ({ file, problem: 'the run that added its last lines did not end' })),
  ];
}

/** Whether the list of parts is what the last run left. */
export function isSealed(lists: Lists, manifest: Manifest): boolean {
  const name = 'parts.ndjson';
  return manifest.state.lists[name] !== undefined && damageOf(name, lists[name], manifest).length === 0;
}

/**
 * Makes the lines that parts.ndjson lost, and sets bad lines of the other lists aside; the names of the lists that were written again.
 * `names` are those in the folder.
 * @throws Failure config where it cannot; unavailable where the disk is full
 */
export async function mendLists(
  folder: string,
  manifest: Manifest,
  names: readonly string[],
  lists: Lists,
  note: (text: string) => void,
): Promise<Set<ListName>> {
  const rewritten = new Set<ListName>();
  const { 'parts.ndjson': list } = lists;
  const next = Math.max(0, ...list.records.map(({ part }) => part)) + 1;
  const last = isSealed(lists, manifest) ? next : Infinity;
  const numbers = names.flatMap((name) => partNumberIn(name) ?? []).filter((number) => number <= last);
  const isDamaged = damageOf('parts.ndjson', list, manifest).length > 0;
  if ((await relistParts(folder, list, { forms: manifest.forms, numbers }, note)) || isDamaged)
    rewritten.add('parts.ndjson');
  for (const name of ['changes.ndjson', 'files.ndjson'] as const) {
    const [damage] = damageOf(name, lists[name], manifest);
    if (!damage) continue;
    const { bytes, records } = lists[name];
    note(`${name}: ${damage.problem}; it is kept as ${await keepAside(folder, name, bytes)}`);
    await writePrivate(join(folder, name), records.map(recordLine).join(''));
    rewritten.add(name);
  }
  return rewritten;
}

/** Whether a name is that of a damaged file that a repair kept aside. */
export function isKeptAside(name: string): boolean {
  return /\.ndjson\.damaged(-\d+)?$/.test(name);
}

/**
 * Copies a damaged file beside itself, under a name that is free, and returns the name. The file itself stays until its repair replaces
 * it, so that a crash loses neither. @throws Failure unavailable where the disk is full
 */
export async function keepAside(folder: string, file: string, bytes: Buffer): Promise<string> {
  let name = `${file}.damaged`;
  for (let count = 2; await exists(join(folder, name)); count += 1) name = `${file}.damaged-${count}`;
  await writePrivate(join(folder, name), bytes);
  return name;
}

/**
 * Why a message is no longer visible to the account: it is older than what the plan of the organization shows; nothing of its channel is
 * visible; or nobody can tell: it was deleted, or moved out of sight (docs/archive-format.md, Changes).
 */
const reasonsGone = ['limit', 'no-access', 'unknown'] as const;
export type ReasonGone = (typeof reasonsGone)[number];

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export type ArchiveChange = {
  readonly id: number;
  /** When it was seen, RFC 3339 UTC. */
  readonly seen: string;
} & (
  | { readonly change: 'gone'; readonly why: ReasonGone; readonly message?: undefined }
  /** The message as the server showed it then; `back`: as it was, after it had been gone. */
  | { readonly change: 'edited' | 'moved' | 'back'; readonly message: ArchivedMessage }
);

/** The change that a line of changes.ndjson describes; undefined for a line of another shape. */
function changeIn(record: unknown): ArchiveChange | undefined {
  if (!isObject(record)) return undefined;
  const { id, change, seen, why, message } = record;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof seen !== 'string') return undefined;
  // Archives that were made before reasons were recorded say `deleted` of whatever was not shown.
  if (change === 'deleted') return { id, change: 'gone', seen, why: 'unknown' };
  if (change === 'gone') return { id, change, seen, why: reasonsGone.find((known) => known === why) ?? 'unknown' };
  const isShown = change === 'edited' || change === 'moved' || change === 'back';
  return isShown && isMessage(message) ? { id, change, seen, message } : undefined;
}
