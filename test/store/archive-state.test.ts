import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openArchive } from '../../src/store/archive/open-archive.ts';
import type { ArchivePart } from '../../src/store/archive/part.ts';
import { headOf, seeAsItIs, sourceHead, storedMessages } from '../helpers/archive.ts';
import { needs } from '../helpers/needs.ts';
import { place } from './place.ts';

/** A new archive of one part, open. */
async function begun() {
  const host = place();
  const folder = join(host.folder, 'archive');
  const open = () => openArchive(folder, host, {});
  const archive = await open();
  await archive.setHead(sourceHead);
  const part = await archive.add({ source: storedMessages(1, 2) });
  return { folder, open, archive, part, file: 'source-000001.ndjson' };
}

interface State {
  readonly complete?: boolean;
  readonly lists: Readonly<Record<string, unknown>>;
  readonly seen: Readonly<Record<string, string>>;
}

function stateOf(folder: string): State {
  return headOf(folder)['state'] as State;
}

function stampOf(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs}`;
}

async function* contentOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}

test('lines that a disk may not have are not sealed', async () => {
  const { folder, archive } = await begun();
  await archive.seal();
  const { lists } = stateOf(folder);
  await archive.add({ source: storedMessages(3) });
  mkdirSync(join(folder, 'changes.ndjson'));
  await expect(
    archive.record([{ id: 1, change: 'gone', seen: '2026-01-01T00:00:00Z', why: 'unknown' }]),
  ).rejects.toThrow('it is a directory');
  rmdirSync(join(folder, 'changes.ndjson'));

  await archive.close();

  expect(stateOf(folder).lists).toEqual(lists);
});

test('an archive that begins is incomplete until a pull has reached its end, whatever changes its head later', async () => {
  const { folder, open, archive } = await begun();
  expect(stateOf(folder).complete).toBe(false);
  archive.mark({ complete: true });
  await archive.close();
  expect(stateOf(folder).complete).toBe(true);

  const again = await open();
  await again.setHead({ ...sourceHead, history_limited: true });
  expect(stateOf(folder).complete).toBe(true);
  await again.close();
});

test('what a killed run left of the next part goes once a pull has reached its end, and not before', async () => {
  const { folder, open, archive } = await begun();
  const left = join(folder, 'source-000002.ndjson');
  writeFileSync(left, '{"id":3}\n');
  await archive.close();
  expect(existsSync(left)).toBe(true);

  const again = await open();
  again.mark({ complete: true });
  await again.close();
  expect(existsSync(left)).toBe(false);
});

test('a part below the last id is late', async () => {
  const { archive } = await begun();
  await archive.add({ source: storedMessages(5) });
  const late = await archive.add({ source: storedMessages(4) });
  await archive.close();
  expect(archive.parts.map((part) => part.late)).toEqual([undefined, undefined, true]);
  expect(late).toMatchObject({ first: 4, last: 4 });
});

test('each file is seen as it is when it is written: of a part, and attached', needs('posix'), async () => {
  const { folder, archive, file } = await begun();
  await archive.seal();
  expect(stateOf(folder).seen).toEqual({ [file]: stampOf(join(folder, file)) });

  await archive.recordFile(await archive.keep('2/ab/notes.txt', contentOf('notes')));
  await archive.close();

  const kept = [...archive.files.values()].flatMap((record) => ('file' in record ? [record.file] : []));
  const names = [file, ...kept];
  expect(names).toHaveLength(2);
  expect(stateOf(folder).seen).toEqual(Object.fromEntries(names.map((name) => [name, stampOf(join(folder, name))])));
});

/** Opened again after `harm`, and its only part. */
async function harmed(harm: (folder: string, file: string) => void) {
  const { folder, open, archive, file } = await begun();
  await archive.close();
  harm(folder, file);
  const again = await open();
  const [part] = again.parts as [ArchivePart];
  return { archive: again, part };
}

const flip = (folder: string, file: string): void => writeFileSync(join(folder, file), '{"id":1}\n{"id":3}\n');

test(
  'a file that looks as it was when it was last read is trusted where that is asked, and no other',
  needs('posix'),
  async () => {
    const { archive, part } = await harmed((folder, file) => {
      flip(folder, file);
      seeAsItIs(folder, file);
    });
    expect(await archive.check(part, 'source', 'changed')).toBeUndefined();
    expect(await archive.check(part, 'source', 'all')).toContain('the content changed');
    await archive.close();
  },
);

test('a damaged file is not trusted after it was read', async () => {
  const { archive, part } = await harmed(flip);
  expect(await archive.check(part, 'source', 'changed')).toContain('the content changed');
  expect(await archive.check(part, 'source', 'changed')).toContain('the content changed');
  await archive.close();
});

test('an archive that nothing was added to keeps its archive.json', needs('posix'), async () => {
  const { folder, open, archive } = await begun();
  await archive.close();
  const { ino } = statSync(join(folder, 'archive.json'));

  await (await open()).close();

  expect(statSync(join(folder, 'archive.json')).ino).toBe(ino);
});

test('a line that a crash cut is gone once the archive is opened', async () => {
  const { folder, open, archive } = await begun();
  await archive.close();
  const path = join(folder, 'parts.ndjson');
  const whole = readFileSync(path, 'utf8');
  appendFileSync(path, '{"part":2,"id');

  await (await open()).close();

  expect(readFileSync(path, 'utf8')).toBe(whole);
});

test('a purge whose record was cut stays one that is damaged, whatever is sealed after it', async () => {
  const { folder, open, archive } = await begun();
  const path = join(folder, 'purge.ndjson');
  writeFileSync(path, '{"begun":"2026-01-01T00:00:00Z"}\n{"call":"asked"}\n');
  await archive.close();
  const sealed = stateOf(folder).lists['purge.ndjson'];
  writeFileSync(path, '{"begun":"2026-01-01T00:00:00Z"}\n');

  const again = await open();
  again.mark({ complete: true });
  await again.close();

  expect(stateOf(folder).lists['purge.ndjson']).toEqual(sealed);
});

test('of a record whose last line is cut the whole lines are sealed', async () => {
  const { folder, archive } = await begun();
  const line = '{"begun":"2026-01-01T00:00:00Z"}\n';
  writeFileSync(join(folder, 'purge.ndjson'), `${line}{"call":"as`);

  await archive.close();

  expect(stateOf(folder).lists['purge.ndjson']).toMatchObject({ bytes: line.length });
});
