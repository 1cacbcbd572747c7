import { join } from 'node:path';
import { stat } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { jsonIn, isObject, writeJson } from '../../core/json.ts';
import { hashOf, ifThere, readBytes, refuseNewer, writePrivate } from '../disk/files.ts';
import { refuseLinks } from '../disk/private.ts';
import { fileRecordIn, filesFolder } from './kept-file.ts';
import { changeIn, readList, type LineList } from './line-file.ts';
import { archiveForms, type ArchiveForm, type ArchivePart, type PartFile } from './part.ts';

/** What an archive is of: the content of archive.json (docs/archive-format.md, Manifest). */
export interface ArchiveHead {
  readonly archive: typeof archiveVersion;
  readonly site: string;
  readonly organization?: string | undefined;
  readonly level?: number | undefined;
  /** The address of the account that fetches the messages. */
  readonly account: string;
  /** Its user id, which it keeps under another address, if the server reports it. */
  readonly account_id?: number | undefined;
  /** The number of parts that other accounts fetched before this one went on with the archive. */
  readonly adopted?: number | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly selection: unknown;
  readonly forms: readonly ArchiveForm[];
  readonly files: boolean;
  readonly history_limited: boolean;
}

/** The warning of every command that shows an archive of a limited history. */
export const limitedHistory =
  'the plan of the organization limits the history: older messages exist that are not in the archive';

export interface Manifest extends ArchiveHead {
  readonly state: ArchiveState;
  /** The hash of its content; undefined where it is not written yet. */
  readonly sha256?: string | undefined;
}

export const manifestFile = 'archive.json';
export const archiveVersion = 1;

export type ManifestRead =
  | { readonly manifest: Manifest; readonly problem?: undefined }
  | { readonly manifest?: undefined; readonly problem: string };

/** Undefined where there is none. @throws Failure config where it cannot be read, or is of a later version */
export async function readManifest(folder: string): Promise<ManifestRead | undefined> {
  const path = join(folder, manifestFile);
  const bytes = await readBytes(path);
  if (!bytes) return undefined;
  const text = bytes.toString('utf8');
  const value = jsonIn(text)?.value;
  if (isObject(value)) refuseNewer(path, value['archive'], archiveVersion);
  if (value === undefined) return { problem: 'it is not valid JSON' };
  if (!isManifest(value)) return { problem: 'it is not the head of an archive' };
  if (!hasOwnHash(text)) return { problem: 'its content changed: its SHA-256 is not the one at its end' };
  return { manifest: value };
}

/** Undefined where there is no archive. @throws Failure config where it is damaged, or of a later version */
export async function readHead(folder: string): Promise<Manifest | undefined> {
  const read = await readManifest(folder);
  if (read?.problem === undefined) return read?.manifest;
  throw damagedFile(folder, { file: manifestFile, problem: read.problem });
}

export interface FileDamage {
  readonly file: string;
  readonly problem: string;
}

/** The failure of a command that needs archive.json or a list. */
export function damagedFile(folder: string, { file, problem }: FileDamage): Failure {
  return new Failure('config', `${join(folder, file)} is damaged: ${problem}`, { hint: copyHint(file) });
}

/** What to do where archive.json or a list is damaged: nothing else says what an archive is of, and what it has. */
export function copyHint(file: string): string {
  return `Put ${file} back from a copy; or pull into another folder, and keep this one for messages that the server no longer has.`;
}

/** Replaces archive.json; returns the hash of its content, its last member. @throws Failure config, unavailable */
export async function writeManifest(folder: string, { state, ...head }: Manifest): Promise<string> {
  const text = `${writeJson({ ...head, state, sha256: undefined }, 2)}\n`;
  const sha256 = hashOf(Buffer.from(text));
  await writePrivate(join(folder, manifestFile), `${text.slice(0, -'\n}\n'.length)},\n  "sha256": "${sha256}"\n}\n`);
  return sha256;
}

function hasOwnHash(text: string): boolean {
  const [end = '', hash] = /,\n {2}"sha256": "([0-9a-f]{64})"\n}\n$/.exec(text) ?? [];
  return hashOf(Buffer.from(`${text.slice(0, -end.length)}\n}\n`)) === hash;
}

function isManifest(head: unknown): head is Manifest {
  if (!isObject(head)) return false;
  const { archive, site, account, options, forms, files, history_limited: limited, state } = head;
  if (!isObject(state) || !isObject(state['lists']) || !isObject(state['seen'])) return false;
  const areForms = Array.isArray(forms) && forms.every((form) => archiveForms.some((known) => known === form));
  const areTexts = [site, account].every((text) => typeof text === 'string');
  const areFlags = [files, limited, state['complete']].every((flag) => typeof flag === 'boolean');
  return archive === archiveVersion && areTexts && areForms && areFlags && isObject(options);
}

/** What the last run left of an archive: a part of archive.json (docs/archive-format.md, State). */
export interface ArchiveState {
  /** Whether the last pull reached the end of its selection. */
  readonly complete: boolean;
  /** The lists of the archive, each with as many bytes as it had then. */
  readonly lists: Readonly<Record<string, ListSeal>>;
  /** The size and the time of modification that each file had when it was last read and compared. */
  readonly seen: Readonly<Record<string, string>>;
}

/** The beginning of a file that only grows. */
interface ListSeal {
  readonly bytes: number;
  readonly sha256: string;
}

export const noState: ArchiveState = { complete: false, lists: {}, seen: {} };

export const listNames = ['parts.ndjson', 'changes.ndjson', 'files.ndjson', 'purge.ndjson'] as const;
export type ListName = (typeof listNames)[number];

/** `changed`: its beginning is another or shorter; `longer`: an interrupted run added to it; else undefined. */
function differenceOf(
  bytes: Buffer,
  seal: ListSeal = { bytes: 0, sha256: hashOf(Buffer.alloc(0)) },
): 'changed' | 'longer' | undefined {
  if (bytes.length < seal.bytes || hashOf(bytes.subarray(0, seal.bytes)) !== seal.sha256) return 'changed';
  return bytes.length > seal.bytes ? 'longer' : undefined;
}

/** Lists without a cut end; of a changed one what was recorded, so that it is still found. @throws Failure config */
export async function sealedLists(folder: string, before: ArchiveState['lists']): Promise<ArchiveState['lists']> {
  const lists: Record<string, ListSeal> = {};
  for (const name of listNames) {
    const [content, old] = [await readBytes(join(folder, name)), before[name]];
    const bytes = content?.subarray(0, content.lastIndexOf('\n') + 1);
    const isKept = old !== undefined && differenceOf(bytes ?? Buffer.alloc(0), old) === 'changed';
    if (isKept) lists[name] = old;
    else if (bytes) lists[name] = { bytes: bytes.length, sha256: hashOf(bytes) };
  }
  return lists;
}

/** What distinguishes a file from a changed one without reading it: its size and its time; undefined for none. */
export async function stampOf(path: string): Promise<string | undefined> {
  const found = await ifThere(`look at ${path}`, stat(path, { bigint: true }));
  return found && `${found.size} ${found.mtimeNs}`;
}

/** When its last pull or purge wrote archive.json, RFC 3339 UTC. */
export async function lastWritten(folder: string): Promise<string | undefined> {
  const path = join(folder, manifestFile);
  return (await ifThere(`look at ${path}`, stat(path)))?.mtime.toISOString();
}

/** The lists of an archive, as far as they can be read. @throws Failure config where a file cannot be read */
export async function readLists(folder: string) {
  await refuseLinks(folder, join(folder, filesFolder));
  const read = <T>(name: ListName, recordOf: (record: unknown) => T | undefined, what: string) =>
    readList(join(folder, name), recordOf, what);
  return {
    'parts.ndjson': await read('parts.ndjson', (line) => (isPart(line) ? line : undefined), 'a part of an archive'),
    'changes.ndjson': await read('changes.ndjson', changeIn, 'a change of an archived message'),
    'files.ndjson': await read('files.ndjson', fileRecordIn, 'an attached file'),
    'purge.ndjson': await read('purge.ndjson', (record) => record, 'a record of a purge'),
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
  const { part, ids, attached } = record;
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
  return isChanged ? [{ file, problem: 'it is not what the last run wrote: it was truncated or changed' }] : [];
}

/** Why the archive may lack what the server had. The record of a purge grows after the archive is whole. */
export function unfinishedIn({ state }: Manifest, lists: Lists): FileDamage[] {
  const longer = listNames.filter((name) => {
    if (name === 'purge.ndjson') return false;
    return differenceOf(lists[name].bytes, state.lists[name]) === 'longer';
  });
  return [
    ...(!state.complete ? [{ file: manifestFile, problem: 'the last pull did not reach its end' }] : []),
    ...longer.map((file) => ({ file, problem: 'the run that added its last lines did not end' })),
  ];
}

export function isSealed(lists: Lists, manifest: Manifest): boolean {
  const name = 'parts.ndjson';
  return manifest.state.lists[name] !== undefined && damageOf(name, lists[name], manifest).length === 0;
}
