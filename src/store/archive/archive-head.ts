// archive.json: what an archive is of, and what the last run left (docs/archive-format.md, Manifest).
import { join } from 'node:path';
import { stat } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { jsonIn, isObject, writeJson } from '../../core/json.ts';
import { hashOf, ifThere, readBytes, refuseNewer, writePrivate } from '../disk/files.ts';
import type { MessageSelection } from '../../schema/selection.ts';
import { archiveForms, type ArchiveForm } from './part.ts';

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
  readonly selection: MessageSelection;
  readonly forms: readonly ArchiveForm[];
  readonly files: boolean;
  readonly history_limited: boolean;
}

/** What the last run left of an archive (docs/archive-format.md, State). */
export interface ArchiveState {
  /** Whether the last pull reached the end of its selection. */
  readonly complete: boolean;
  /** The lists of the archive, each with as many bytes as it had then. */
  readonly lists: Readonly<Record<string, ListSeal>>;
  /** The size and the time of modification that each file had when it was last read and compared. */
  readonly seen: Readonly<Record<string, string>>;
}

/** The beginning of a file that only grows. */
export interface ListSeal {
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest extends ArchiveHead {
  readonly state: ArchiveState;
  /** The hash of its content; undefined where it is not written yet. */
  readonly sha256?: string | undefined;
}

/** The warning of every command that shows an archive of a limited history. */
export const limitedHistory =
  'the plan of the organization limits the history: older messages exist that are not in the archive';

export const manifestFile = 'archive.json';
export const archiveVersion = 1;
export const noState: ArchiveState = { complete: false, lists: {}, seen: {} };

/** Undefined where there is none. @throws Failure config where it cannot be read, or is of a later version */
export async function readManifest(folder: string) {
  const path = join(folder, manifestFile);
  const bytes = await readBytes(path);
  if (!bytes) return undefined;
  const text = bytes.toString('utf8');
  const value = jsonIn(text)?.value;
  if (isObject(value)) refuseNewer(path, value['archive'], archiveVersion);
  if (value === undefined) return { problem: 'it is not valid JSON' };
  if (!isManifest(value)) return { problem: 'it is not the head of an archive' };
  const [end = '', hash] = /,\n {2}"sha256": "([0-9a-f]{64})"\n}\n$/.exec(text) ?? [];
  if (hashOf(Buffer.from(`${text.slice(0, -end.length)}\n}\n`)) !== hash)
    return { problem: 'its content changed: its SHA-256 is not the one at its end' };
  return { manifest: value };
}

/** Undefined where there is no archive. @throws Failure config where it is damaged, or of a later version */
export async function readHead(folder: string): Promise<Manifest | undefined> {
  const read = await readManifest(folder);
  if (read?.problem === undefined) return read?.manifest;
  throw damagedFile(folder, { file: manifestFile, problem: read.problem });
}

/** The failure of a command that needs the file. */
export function damagedFile(folder: string, { file, problem }: { readonly file: string; readonly problem: string }) {
  return new Failure('config', `${join(folder, file)} is damaged: ${problem}`, { hint: copyHint(file) });
}

/** What to do where a file of messages, archive.json or a list is damaged: the server may not have it any more. */
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

function isManifest(head: unknown): head is Manifest {
  if (!isObject(head)) return false;
  const { archive, site, account, options, selection, forms, files, history_limited: limited, state } = head;
  if (!isObject(state) || !isObject(state['lists']) || !isObject(state['seen'])) return false;
  const areForms = Array.isArray(forms) && forms.every((form) => archiveForms.some((known) => known === form));
  const areTexts = [site, account].every((text) => typeof text === 'string');
  const areFlags = [files, limited, state['complete']].every((flag) => typeof flag === 'boolean');
  const areObjects = [options, selection].every(isObject);
  return archive === archiveVersion && areTexts && areForms && areFlags && areObjects;
}

/** When its last pull or purge wrote archive.json, RFC 3339 UTC. */
export async function lastWritten(folder: string): Promise<string | undefined> {
  const path = join(folder, manifestFile);
  return (await ifThere(`look at ${path}`, stat(path)))?.mtime.toISOString();
}
