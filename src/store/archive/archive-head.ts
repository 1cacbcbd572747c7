import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, usage } from '../../core/failure.ts';
import { isObject, parseJson, writeJson } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import { isMissing, storageFailure, writePrivate } from '../disk/files.ts';

/** The two forms of a message's text: HTML as the server renders it, and the Markdown that the sender typed. */
export const archiveForms = ['rendered', 'source'] as const;
export type ArchiveForm = (typeof archiveForms)[number];

/** What an archive is of: the content of archive.json (docs/archive-format.md, Manifest). */
export interface ArchiveHead {
  readonly archive: 1;
  readonly site: string;
  readonly organization?: string | undefined;
  /** Feature level of the server when the archive was begun. */
  readonly level?: number | undefined;
  /** The address of the account that fetched the messages. */
  readonly account: string;
  /** The options of the first pull, as typed. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What they select; `src/jobs/archive` reads it. */
  readonly selection: unknown;
  readonly forms: readonly ArchiveForm[];
  /** Whether the plan of the organization hid older messages. */
  readonly history_limited: boolean;
}

const headFile = 'archive.json';
const currentVersion = 1;

/**
 * The head of the archive in that folder; undefined where there is none.
 * @throws Failure config where it is damaged, or of a later version of the format
 */
export async function readHead(folder: string): Promise<ArchiveHead | undefined> {
  const path = join(folder, headFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw storageFailure(`cannot read ${path}`, cause);
  }
  return checkedHead(path, text);
}

/** @throws Failure config where it cannot be written; unavailable where the disk is full */
export async function writeHead(folder: string, head: ArchiveHead): Promise<void> {
  await writePrivate(join(folder, headFile), `${writeJson(head, 2)}\n`);
}

/** The failure of a command that needs an archive. */
export function noArchive(folder: string): Failure {
  return usage(`${folder} holds no archive`, `Make one: chatelaine archive pull ${shellWord(folder)} --channel NAME`);
}

function checkedHead(path: string, text: string): ArchiveHead {
  const head = parsed(path, text);
  const version = isObject(head) ? head['archive'] : undefined;
  if (typeof version === 'number' && version > currentVersion)
    throw new Failure(
      'config',
      `${path} is of version ${version} of the format; this program reads ${currentVersion}`,
      {
        hint: 'Update chatelaine.',
      },
    );
  if (!isHead(head)) throw damaged(path);
  return { ...laterMembers, ...head };
}

function isHead(head: unknown): head is Omit<ArchiveHead, keyof typeof laterMembers> & Partial<ArchiveHead> {
  if (!isObject(head)) return false;
  const { archive, site, account, forms } = head;
  const areForms = Array.isArray(forms) && forms.every((form) => archiveForms.some((known) => known === form));
  return archive === currentVersion && typeof site === 'string' && typeof account === 'string' && areForms;
}

/** What archives of this version lack that were made before the member was added. */
const laterMembers = { options: {}, selection: {}, history_limited: false };

function parsed(path: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw damaged(path, cause);
    throw cause;
  }
}

function damaged(path: string, cause?: unknown): Failure {
  return new Failure('config', `${path} is damaged`, {
    hint: 'Put it back from a copy, or pull into another folder.',
    cause,
  });
}
