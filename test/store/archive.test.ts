import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { elementsOf } from '../../src/core/json-elements.ts';
import { openArchive, type OpenArchive } from '../../src/store/archive/archive.ts';
import type { ArchiveHead } from '../../src/store/archive/archive-head.ts';
import type { ArchivePart, StoredMessage } from '../../src/store/archive/part.ts';
import { realTime } from '../helpers/clock.ts';
import { emptyHome } from '../helpers/run.ts';
import { systemIn } from './system.ts';

const head: ArchiveHead = {
  archive: 1,
  site: 'https://chat.test',
  account: 'mara@harbour.example',
  ...{ options: {}, selection: {}, forms: ['source'], files: false, history_limited: false },
};

function source(...ids: number[]): readonly StoredMessage[] {
  const { elements } = elementsOf(Buffer.from(JSON.stringify({ messages: ids.map((id) => ({ id })) })), 'messages');
  return elements.map((text, index) => ({ id: ids[index] ?? 0, text }));
}

const upload = '/user_uploads/1/plan.txt';

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from('plan'));
}

const writes: readonly (readonly [
  what: string,
  write: (archive: OpenArchive, part: ArchivePart) => Promise<unknown>,
])[] = [
  ['a part', (archive) => archive.add({ source: source(3, 4) })],
  ['a repaired part', (archive, part) => archive.repair(part, 'source', source(1, 2))],
  ['a line of a part', (archive, part) => archive.list(part)],
  ['a change', (archive) => archive.record([{ id: 1, change: 'gone', seen: '2026-03-01T00:00:00Z', why: 'unknown' }])],
  ['an attached file', (archive) => archive.keep(upload, pieces())],
  ['its line', (archive) => archive.recordFile({ path: upload, refused: 'not found' })],
  ['its head', (archive) => archive.setHead({ ...head, account: 'ada@harbour.example' })],
  [
    'its end',
    (archive) => {
      archive.mark({ complete: true });
      return archive.close();
    },
  ],
];

test.each(writes)(
  'an archive that was taken away: %s is not written into the one in its place',
  async (_what, write) => {
    const home = emptyHome();
    const folder = join(home, 'kept');
    const open = () => openArchive(folder, { system: systemIn(home), clock: realTime }, {});
    const contents = () =>
      new Map(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.startsWith('lock'))
          .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')]),
      );
    const taken = await open();
    await taken.setHead(head);
    const part = await taken.add({ source: source(1, 2) });
    renameSync(folder, `${folder}-away`);
    const other = await open();
    await other.setHead({ ...head, site: 'https://other.test' });
    for (const ids of [[1], [2], [3]]) await other.add({ source: source(...ids) });
    const before = contents();

    await expect(write(taken, part)).rejects.toThrow(`the archive ${folder} was taken away: archive.json is not as`);

    expect(contents()).toEqual(before);
    await other.close();
  },
);
