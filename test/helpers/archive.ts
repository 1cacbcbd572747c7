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
  selection: {},
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

/** Makes archive.json what it was before it recorded the state of the other files. */
export function forgetState(folder: string): void {
  const { state: _state, sha256: _sha256, ...head } = headOf(folder);
  writeFileSync(join(folder, 'archive.json'), `${JSON.stringify(head, undefined, 2)}\n`);
}

/**
 * Makes archive.json say of a file that it was read as it is now: a disk that flips a bit leaves size, times and inode
 * as they were.
 */
export function seeAsItIs(folder: string, name: string): void {
  const { sha256: _sha256, ...head } = headOf(folder) as { state: { seen: Record<string, string> } } & Record<
    string,
    unknown
  >;
  const { size, mtimeNs, ctimeNs, ino } = statSync(join(folder, name), { bigint: true });
  head.state.seen[name] = [size, mtimeNs, ctimeNs, ino].join(' ');
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
