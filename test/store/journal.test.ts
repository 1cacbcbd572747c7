import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { summedLine } from '../../src/store/disk/records.ts';
import { begunIn, openJournal } from '../../src/store/journal.ts';
import { sleptClock } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { failureOf, place } from './place.ts';
import { bundleProgram, ended, printed, start, type Program } from './spawning.ts';

const header = { job: 'apply', input: 'sha256:1' };
const headerLine = summedLine({ journal: 1, ...header });
const stepLine = (step: number): string => summedLine({ step });

interface Opened {
  readonly path: string;
  readonly open: (about?: object) => ReturnType<typeof openJournal>;
}

function at(): Opened & { readonly folder: string } {
  const host = { ...place(), clock: sleptClock(1_000_000) };
  const path = join(host.folder, 'journals/job.ndjson');
  return {
    folder: host.folder,
    path,
    open: (about = header) => openJournal(path, { ...about }, host),
  };
}

const umask = process.umask(0o022);
afterEach(() => void process.umask(umask));

test('what was appended is read by the next run', async () => {
  const { path, open } = at();
  const first = await open();
  expect(first.records).toEqual([]);
  await first.append({ intent: 1 });
  await first.append({ result: 12345678901234567890n, text: 'a\nb ' });
  await first.close();
  expect(readFileSync(path, 'utf8').replace(/,"sum":"[\da-f]{8}"/g, '')).toBe(
    '{"journal":1,"job":"apply","input":"sha256:1"}\n{"intent":1}\n{"result":12345678901234567890,"text":"a\\nb "}\n',
  );
  const second = await open();
  expect(second.records).toEqual([{ intent: 1 }, { result: 12345678901234567890n, text: 'a\nb ' }]);
  await second.close();
});

test.each([0o000, 0o077])('under umask %i it is 0600 in a folder of 0700', needs('modes'), async (mask) => {
  const { folder, path, open } = at();
  process.umask(mask);
  await (await open()).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'journals')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'journals'))).toEqual(['job.ndjson']);
});

test.each([
  '{"step":2',
  '{"step":2}',
  '{"step":2}\n',
  stepLine(2).replace('2', '3'),
  'garbage\n',
  '\0\0\0\0',
  '"',
  '\n',
])('a torn end %j is left out, which is written once, and what is appended then is whole', async (torn) => {
  const { path, open } = at();
  const first = await open();
  await first.append({ step: 1 });
  await first.close();
  appendFileSync(path, torn);
  const second = await open();
  expect(second.records).toEqual([{ step: 1 }, { lost: 1_000_000 }]);
  await second.append({ step: 3 });
  await second.close();
  expect(readFileSync(path, 'utf8')).toBe(
    [headerLine, stepLine(1), summedLine({ lost: 1_000_000 }), stepLine(3)].join(''),
  );
  expect((await open()).records).toHaveLength(3);
});

test.each(['', '{', '{"journal":1,"jo', headerLine.slice(0, -1), '\0\0\0'])(
  'a journal that ends inside its header %j begins again',
  async (text) => {
    const { folder, path, open } = at();
    mkdirSync(join(folder, 'journals'));
    writeFileSync(path, text);
    const journal = await open();
    expect(journal.records).toEqual([{ lost: 1_000_000 }]);
    await journal.close();
    expect(readFileSync(path, 'utf8')).toBe(headerLine + summedLine({ lost: 1_000_000 }));
  },
);

test.each([
  ['of another input', '{"journal":1,"job":"apply","input":"sha256:2"}\n{"step":1}\n'],
  ['of a later version', '{"journal":2,"job":"apply","input":"sha256:1"}\n'],
  ['that is a roster', 'remote_user,size_allowance\nanna,3\n'],
  ['that is a roster of one line', '[{"remote_user":"anna","size_allowance":3}]'],
  ['of one word', 'important'],
])('a file %s is refused and left as it is', async (_name, text) => {
  const { folder, path, open } = at();
  mkdirSync(join(folder, 'journals'));
  writeFileSync(path, text);
  expect((await failureOf(open)).kind).toBe('config');
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(readdirSync(join(folder, 'journals'))).toEqual(['job.ndjson']);
});

test('a journal of another job says what to do', async () => {
  const { path, open } = at();
  await (await open()).close();
  expect(await failureOf(() => open({ job: 'other' }))).toEqual({
    kind: 'config',
    message: `${path} is not the journal of this job and input`,
    hint: 'Name another file with --journal, or move this one away if its job is not to be resumed.',
  });
});

test.each([
  ['broken\n', 'not valid JSON'],
  ['{"step":2}\n', 'not what was written'],
  [stepLine(2).replace('2', '3'), 'not what was written'],
])('a journal with %j in its middle is refused', async (line, problem) => {
  const { path, open } = at();
  await (await open()).close();
  appendFileSync(path, stepLine(1) + line + stepLine(3));
  expect(await failureOf(open)).toEqual({
    kind: 'config',
    message: `the journal ${path} is damaged: line 3 is ${problem}`,
    hint: 'Move it away; the next run plans afresh.',
  });
});

test('lines of version 0.1, which have no sum, are right up to the first that has one', async () => {
  const { folder, path, open } = at();
  mkdirSync(join(folder, 'journals'));
  writeFileSync(path, '{"journal":1,"job":"apply","input":"sha256:1"}\n{"step":1}\n');
  const journal = await open();
  expect(journal.records).toEqual([{ step: 1 }]);
  await journal.append({ step: 2 });
  await journal.close();
  expect((await open()).records).toEqual([{ step: 1 }, { step: 2 }]);
});

test('a journal that says only that its job has begun is removed when the job is done', async () => {
  const { folder, open } = at();
  const first = await open();
  expect(begunIn(first)).toBeUndefined();
  await first.append({ begun: 5 });
  await first.close();
  const second = await open();
  expect(begunIn(second)).toBe(5);
  await second.finish();
  expect(readdirSync(join(folder, 'journals'))).toEqual([]);
});

test('a second run at once is refused, naming the first', async () => {
  const { path, open } = at();
  const first = await open();
  expect(await failureOf(open)).toEqual({
    kind: 'unavailable',
    message: `the journal ${path} is in use by process ${process.pid} on here.test`,
    hint: `Run the command again when it has ended; ${path}.lock is free then.`,
  });
  await first.close();
  await (await open()).close();
});

test('a finished one is kept beside, and the next run begins again', async () => {
  const { folder, path, open } = at();
  const first = await open();
  await first.append({ step: 1 });
  await first.finish();
  await first.close();
  expect(readdirSync(join(folder, 'journals'))).toEqual(['job.ndjson.done']);
  expect(readFileSync(`${path}.done`, 'utf8')).toBe(headerLine + stepLine(1));
  const second = await open();
  expect(second.records).toEqual([]);
  await second.finish();
  // What the first one did is kept where the second had nothing to do.
  expect(readdirSync(join(folder, 'journals'))).toEqual(['job.ndjson.done']);
  expect(readFileSync(`${path}.done`, 'utf8')).toBe(headerLine + stepLine(1));
});

test('records that are appended together are there in order', async () => {
  const { path, open } = at();
  const journal = await open();
  await Promise.all([1, 2, 3, 4].map((step) => journal.append({ step })));
  expect(readFileSync(path, 'utf8')).toBe(`${headerLine}${[1, 2, 3, 4].map(stepLine).join('')}`);
  await journal.close();
});

test('closing waits for what is being written', async () => {
  const { path, open } = at();
  const journal = await open();
  const appended = journal.append({ step: 1 });
  await journal.close();
  await appended;
  expect(readFileSync(path, 'utf8')).toBe(headerLine + stepLine(1));
});

test('nothing is appended to a cut line, which somebody else must have left there', async () => {
  const { path, open } = at();
  const journal = await open();
  await journal.append({ step: 1 });
  appendFileSync(path, '{"ste');
  expect(await failureOf(() => journal.append({ step: 2 }))).toMatchObject({
    kind: 'config',
    message: `the end of the journal ${path} is cut`,
    hint: 'Run the same command again.',
  });
  await journal.close();
  expect(readFileSync(path, 'utf8')).toBe(`${headerLine}${stepLine(1)}{"ste`);
});

test.each([
  ['a file is where its folder should be', (folder: string) => writeFileSync(join(folder, 'journals'), '')],
  ['a folder is in its place', (folder: string) => mkdirSync(join(folder, 'journals/job.ndjson'), { recursive: true })],
])('%s: the variable to set is named', async (_name, make) => {
  const { folder, open } = at();
  make(folder);
  const caught = await failureOf(open);
  expect([caught.kind, caught.hint]).toEqual(['config', 'Set XDG_STATE_HOME to a folder that can be written.']);
});

test('a device is no journal', needs('devices'), async () => {
  const host = place();
  const { symlinkSync } = await import('node:fs');
  symlinkSync('/dev/null', join(host.folder, 'null'));
  const caught = await failureOf(() => openJournal(join(host.folder, 'null'), header, host));
  expect(caught.message).toBe(`${join(host.folder, 'null')} is not a regular file`);
});

describe('a process of its own', () => {
  let program: Program;
  beforeAll(async () => {
    program = await bundleProgram();
  });
  afterAll(() => program.remove());

  test('that is killed leaves every record that it has acknowledged', async () => {
    const host = place();
    const child = start(program, 'journal', host.folder);
    const end = ended(child);
    await printed(child, '\n50\n');
    child.kill('SIGKILL');
    const caught = (await end).stdout.split('\n').filter((line) => line !== '').length;
    const journal = await openJournal(join(host.folder, 'job.ndjson'), { job: 'endless' }, host);
    expect(journal.records.length).toBeGreaterThanOrEqual(caught);
    expect(journal.records).toEqual(journal.records.map((_record, step) => ({ step })));
    await journal.close();
    expect(existsSync(join(host.folder, 'job.ndjson.lock'))).toBe(false);
  });
});
