import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isGap } from '../../src/store/archive/archive.ts';
import { openArchive, type OpenArchive } from '../../src/store/archive/open-archive.ts';
import { sourceHead, storedMessages } from '../helpers/archive.ts';
import { place } from './place.ts';

const upload = '/user_uploads/1/plan.txt';

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from('plan'));
}

const writes: readonly (readonly [what: string, write: (archive: OpenArchive) => Promise<unknown>])[] = [
  ['a part', (archive) => archive.add({ source: storedMessages(3, 4) })],
  ['a change', (archive) => archive.record([{ id: 1, change: 'gone', seen: '2026-03-01T00:00:00Z', why: 'unknown' }])],
  ['an attached file', (archive) => archive.keep(upload, pieces())],
  ['its line', (archive) => archive.recordFile({ path: upload, refused: 'not found', why: 'missing' })],
  ['its head', (archive) => archive.setHead({ ...sourceHead, account: 'ada@harbour.example' })],
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
    const host = place();
    const folder = join(host.folder, 'kept');
    const open = () => openArchive(folder, host, {});
    const contents = () =>
      new Map(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.startsWith('lock'))
          .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')]),
      );
    const taken = await open();
    await taken.setHead(sourceHead);
    await taken.add({ source: storedMessages(1, 2) });
    renameSync(folder, `${folder}-away`);
    const other = await open();
    await other.setHead({ ...sourceHead, site: 'https://other.test' });
    for (const ids of [[1], [2], [3]]) await other.add({ source: storedMessages(...ids) });
    const before = contents();

    await expect(write(taken)).rejects.toThrow(`the archive ${folder} was taken away: archive.json is not as`);

    expect(contents()).toEqual(before);
    await other.close();
  },
);

test('an archive may lack messages where a list is damaged, and where a run did not end', () => {
  const kinds = ['lost', 'list', 'unfinished', 'content', 'foreign'] as const;
  expect(kinds.filter((kind) => isGap({ kind, file: '', problem: '' }))).toEqual(['lost', 'list', 'unfinished']);
});
