import { join } from 'node:path';
import { JsonElement } from '../../core/json-elements.ts';
import { parseJson, isObject } from '../../core/json.ts';
import { exists, readBytes, writePrivate } from '../disk/files.ts';
import { recordLine } from '../roster/ndjson.ts';
import type { OpenOptions } from './archive-folder.ts';
import { manifestFile, type Manifest, differenceOf, listNames, type ListName } from './archive-head.ts';
import { fileRecordIn } from './kept-file.ts';
import { readList, type LineList } from './line-file.ts';
import { readPartList, relistParts } from './part-list.ts';
import { partNumberIn, isMessage, type ArchivedMessage, type ArchiveForm, type ArchivePart } from './part.ts';

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

/** What is left of a damaged file of a part. */
export interface DamagedFile {
  /** Undefined where the file is missing. */
  readonly bytes: Buffer | undefined;
  /** The lines that are a message of the part, by id. A line that is JSON may be damaged all the same. */
  readonly lines: ReadonlyMap<number, KeptLine>;
}

/** A line of a damaged file, byte for byte. */
interface KeptLine {
  readonly id: number;
  readonly text: JsonElement;
  readonly message: ArchivedMessage;
}

/** Reads what is left of one form of a part. @throws Failure config where the file cannot be read */
export async function readDamaged(folder: string, part: ArchivePart, form: ArchiveForm): Promise<DamagedFile> {
  const entry = part[form];
  const bytes = entry && (await readBytes(join(folder, entry.file)));
  const ids = new Set(part.ids);
  const lines = new Map<number, KeptLine>();
  for (const line of bytes ? linesIn(bytes) : []) if (ids.has(line.id) && !lines.has(line.id)) lines.set(line.id, line);
  return { bytes, lines };
}

function* linesIn(bytes: Buffer): Generator<KeptLine> {
  let start = 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found;
    const document = bytes.subarray(start, end);
    const message = messageIn(document);
    if (message) yield { id: message.id, message, text: JsonElement.of(document) };
    start = end + 1;
  }
}

function messageIn(line: Buffer): ArchivedMessage | undefined {
  try {
    const value = parseJson(line.toString('utf8'));
    return isMessage(value) ? value : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

const suffix = '.damaged';

/** Whether a name is that of a damaged file that a repair kept aside. */
export function isKeptAside(name: string): boolean {
  return /\.ndjson\.damaged(-\d+)?$/.test(name);
}

/**
 * Copies a damaged file beside itself, under a name that is free, and returns the name. The file itself stays until its repair replaces
 * it, so that a crash loses neither. @throws Failure unavailable where the disk is full
 */
export async function keepAside(folder: string, file: string, bytes: Buffer): Promise<string> {
  let name = `${file}${suffix}`;
  for (let count = 2; await exists(join(folder, name)); count += 1) name = `${file}${suffix}-${count}`;
  await writePrivate(join(folder, name), bytes);
  return name;
}

/**
 * Writes a list again with those of its lines that can be read, after the whole of it was kept aside. Returns the name of the copy.
 * @throws Failure config where it cannot be written; unavailable where the disk is full
 */
async function setBadLinesAside(folder: string, name: string, list: LineList<unknown>): Promise<string> {
  const aside = await keepAside(folder, name, list.bytes);
  await writePrivate(join(folder, name), list.records.map(recordLine).join(''));
  return aside;
}

/**
 * Why a message is no longer visible to the account: it is older than what the plan of the organization shows; nothing of its channel is
 * visible; or nobody can tell: it was deleted, or moved out of sight (docs/archive-format.md, Changes).
 */
const reasonsGone = ['limit', 'no-access', 'unknown'] as const;
export type ReasonGone = (typeof reasonsGone)[number];

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export type ArchiveChange = MessageShown | MessageGone;

/** The message as the server showed it then: edited, moved, or as it was, after it had been gone. */
interface MessageShown {
  readonly id: number;
  readonly change: 'edited' | 'moved' | 'back';
  /** When it was seen, RFC 3339 UTC. */
  readonly seen: string;
  readonly message: ArchivedMessage;
}

interface MessageGone {
  readonly id: number;
  readonly change: 'gone';
  readonly seen: string;
  readonly why: ReasonGone;
  readonly message?: undefined;
}

/** The change that a line of changes.ndjson describes; undefined for a line of another shape. */
function changeIn(record: unknown): ArchiveChange | undefined {
  if (!isObject(record)) return undefined;
  const { id, change, seen, why, message } = record;
  if (!isId(id) || typeof seen !== 'string') return undefined;
  // Archives that were made before reasons were recorded say `deleted` of whatever was not shown.
  if (change === 'deleted') return { id, change: 'gone', seen, why: 'unknown' };
  if (change === 'gone') return { id, change, seen, why: reasonsGone.find((known) => known === why) ?? 'unknown' };
  const isShown = change === 'edited' || change === 'moved' || change === 'back';
  return isShown && isMessage(message) ? { id, change, seen, message } : undefined;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
