import { join } from 'node:path';
import { changeIn } from './archive-change.ts';
import type { OpenOptions } from './archive-folder.ts';
import { manifestFile, type Manifest } from './archive-head.ts';
import { differenceOf, listNames, type ListName } from './archive-state.ts';
import { setBadLinesAside } from './damaged-file.ts';
import { fileRecordIn } from './kept-file.ts';
import { readList, type LineList } from './line-file.ts';
import { readPartList, relistParts } from './part-list.ts';
import { partNumberIn } from './part.ts';

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

/** Why the archive may lack what the server had. */
export function unfinishedIn({ state }: Manifest, lists: Lists): FileDamage[] {
  const longer = listNames.filter((name) => {
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

interface Mending {
  readonly manifest: Manifest;
  readonly names: readonly string[];
  readonly lists: Lists;
  /** Gets the names of the lists that are written again. */
  readonly rewritten: Set<ListName>;
}

/** Makes the lines that parts.ndjson lost, and sets bad lines of the other lists aside. @throws Failure config where it cannot */
export async function mendLists(
  folder: string,
  { manifest, names, lists, rewritten }: Mending,
  { note }: OpenOptions,
): Promise<void> {
  const { 'parts.ndjson': list } = lists;
  const next = Math.max(0, ...list.records.map(({ part }) => part)) + 1;
  const last = isSealed(lists, manifest) ? next : Infinity;
  const numbers = names
    .map(partNumberIn)
    .filter((number) => number !== undefined)
    .filter((number) => number <= last);
  const isDamaged = damageOf('parts.ndjson', list, manifest).length > 0;
  if ((await relistParts(folder, list, { forms: manifest.forms, numbers }, note)) || isDamaged)
    rewritten.add('parts.ndjson');
  for (const name of ['changes.ndjson', 'files.ndjson'] as const) {
    const [damage] = damageOf(name, lists[name], manifest);
    if (!damage) continue;
    note(`${name}: ${damage.problem}; it is kept as ${await setBadLinesAside(folder, name, lists[name])}`);
    rewritten.add(name);
  }
}
