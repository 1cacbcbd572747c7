import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { elementsOf } from '../../src/core/json-elements.ts';
import type { ArchiveHead } from '../../src/store/archive/archive-head.ts';
import type { StoredMessage } from '../../src/store/archive/part.ts';

/** The head of an archive of sources and attached files. */
export const sourceHead: ArchiveHead = {
  archive: 1,
  site: 'https://chat.test',
  account: 'ada@chat.test',
  options: {},
  selection: { narrow: [], form: {}, range: { kind: 'pages', anchor: 'oldest' } },
  forms: ['source'],
  files: true,
  history_limited: false,
};

/** Messages of those ids, as an archive takes them. */
export function storedMessages(...ids: readonly number[]): StoredMessage[] {
  const { elements } = elementsOf(Buffer.from(JSON.stringify({ messages: ids.map((id) => ({ id })) })), 'messages');
  return ids.flatMap((id, index) => {
    const text = elements[index];
    return text ? [{ id, text }] : [];
  });
}

/** archive.json of an archive as it is on disk. */
export function headOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as Record<string, unknown>;
}

/** Makes archive.json what a first run leaves that was killed: it knows nothing of the other files. */
export function forgetState(folder: string): void {
  writeHead(folder, { ...headOf(folder), state: { complete: false, lists: {}, seen: {} } });
}

/** Makes archive.json say of a file that it was read as it is now: a disk that flips a bit leaves size and time. */
export function seeAsItIs(folder: string, name: string): void {
  const { sha256: _sha256, ...head } = headOf(folder) as { state: { seen: Record<string, string> } } & Record<
    string,
    unknown
  >;
  const { size, mtimeNs } = statSync(join(folder, name), { bigint: true });
  head.state.seen[name] = `${size} ${mtimeNs}`;
  writeHead(folder, head);
}

/** Writes archive.json with its hash. */
export function writeHead(folder: string, { sha256: _, ...head }: Record<string, unknown>): void {
  const text = `${JSON.stringify(head, undefined, 2)}\n`;
  const hash = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(folder, 'archive.json'), `${text.slice(0, -3)},\n  "sha256": "${hash}"\n}\n`);
}

/** Locks an archive as a process of another computer does; where the lock is. */
export function heldByAnother(folder: string): string {
  const lock = join(folder, 'lock');
  writeFileSync(lock, JSON.stringify({ pid: 816, token: 'other', host: 'PC-A', here: '/nowhere/here-1' }));
  return lock;
}
