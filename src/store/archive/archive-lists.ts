import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { exists, writePrivate } from '../disk/files.ts';
import { refuseLinks } from '../disk/private.ts';
import {
  differenceOf,
  listNames,
  manifestFile,
  type FileDamage,
  type ListName,
  type Manifest,
} from './archive-head.ts';
import { fileRecordIn, filesFolder } from './kept-file.ts';
import { readList, type LineList } from './line-file.ts';
import { archiveForms, isMessage, type ArchivedMessage, type ArchivePart, type PartFile } from './part.ts';

/** The lists of an archive, as far as they can be read. @throws Failure config where a file cannot be read */
export async function readLists(folder: string) {
  await refuseLinks(folder, join(folder, filesFolder));
  return {
    'parts.ndjson': await readList(
      join(folder, 'parts.ndjson'),
      (record) => (isPart(record) ? record : undefined),
      'a part of an archive',
    ),
    'changes.ndjson': await readList(join(folder, 'changes.ndjson'), changeIn, 'a change of an archived message'),
    'files.ndjson': await readList(join(folder, 'files.ndjson'), fileRecordIn, 'an attached file'),
    'purge.ndjson': await readList(join(folder, 'purge.ndjson'), (record) => record, 'a record of a purge'),
  } as const;
}

export type Lists = Awaited<ReturnType<typeof readLists>>;

/** The parts of lines, by number: of several lines of one part the last counts. */
export function partsIn(lines: readonly ArchivePart[]): ArchivePart[] {
  const parts = new Map(lines.map((line) => [line.part, line]));
  return [...parts.values()].sort((one, other) => one.part - other.part);
}

function isPart(record: unknown): record is ArchivePart {
  if (!isObject(record)) return false;
  const { part, ids, attached = [] } = record;
  const areFiles = archiveForms.every((form) => record[form] === undefined || isPartFile(record[form]));
  const areIds = Array.isArray(ids) && ids.length > 0 && ids.every(Number.isSafeInteger);
  const arePaths = Array.isArray(attached) && attached.every((path) => typeof path === 'string');
  return typeof part === 'number' && areIds && areFiles && arePaths;
}

function isPartFile(value: unknown): value is PartFile {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof sha256 === 'string' && typeof file === 'string' && /^[a-z]+-\d+\.ndjson$/.test(file);
}

export function ascend(ids: readonly number[]): boolean {
  return ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
}

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

export function isSealed(lists: Lists, manifest: Manifest): boolean {
  const name = 'parts.ndjson';
  return manifest.state.lists[name] !== undefined && damageOf(name, lists[name], manifest).length === 0;
}

export function isKeptAside(name: string): boolean {
  return /\.ndjson\.damaged(-\d+)?$/.test(name);
}

/** Copies a damaged file and returns the free name: a crash in its repair loses nothing. @throws Failure unavailable */
export async function keepAside(folder: string, file: string, bytes: Buffer): Promise<string> {
  let name = `${file}.damaged`;
  for (let count = 2; await exists(join(folder, name)); count += 1) name = `${file}.damaged-${count}`;
  await writePrivate(join(folder, name), bytes);
  return name;
}

/**
 * A message is older than what the plan shows; nothing of its channel is visible; or nobody can tell: it was deleted,
 * or moved out of sight (docs/archive-format.md, Changes).
 */
const reasonsGone = ['limit', 'no-access', 'account', 'unknown'] as const;
export type ReasonGone = (typeof reasonsGone)[number];

/** Where a message of a channel is: as it names it, or as the server's narrows show it. */
export interface MessagePlace {
  readonly stream_id: unknown;
  readonly subject: unknown;
}

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export type ArchiveChange = {
  readonly id: number;
  readonly seen: string;
} & (
  | { readonly change: 'gone'; readonly why: ReasonGone; readonly message?: undefined }
  /** The message as the server showed it then; `back`: as it was, after it had been gone. */
  | { readonly change: 'edited' | 'back'; readonly message: ArchivedMessage }
  /** `from`: the place that the archive had before; `to`: where it is, if the server shows that. */
  | {
      readonly change: 'moved';
      readonly from?: MessagePlace | undefined;
      readonly to?: MessagePlace | undefined;
      readonly message: ArchivedMessage;
    }
);

/** The change that a line of changes.ndjson describes; undefined for a line of another shape. */
function changeIn(record: unknown): ArchiveChange | undefined {
  if (!isObject(record)) return undefined;
  const { id, change, seen, why, message } = record;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof seen !== 'string') return undefined;
  // Archives that were made before reasons were recorded say `deleted` of whatever was not shown.
  if (change === 'deleted') return { id, change: 'gone', seen, why: 'unknown' };
  if (change === 'gone') return { id, change, seen, why: reasonsGone.find((known) => known === why) ?? 'unknown' };
  if (!isMessage(message)) return undefined;
  if (change === 'moved')
    return { id, change, seen, from: placeIn(record['from']), to: placeIn(record['to']), message };
  return change === 'edited' || change === 'back' ? { id, change, seen, message } : undefined;
}

function placeIn(value: unknown): MessagePlace | undefined {
  return isObject(value) ? { stream_id: value['stream_id'], subject: value['subject'] } : undefined;
}
