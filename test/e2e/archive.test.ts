import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWhole, sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { openService, preloaded, start, temporaryHome } from './program.ts';

/** Kills the process at a step of its writing; bench/torture does so at many more. */
const preload = preloaded('bench/torture/kill-at-disk.cjs');
const killedAt = (moment: string) => ({ ...preload, KILL_AT: moment, KILL_IN: 'kept' });

const bulk = { extraMessages: { channel: 'firmware', topic: 'bulk', count: 7000 }, rateLimit: { perMinute: 100_000 } };

describe('an export that is ended', () => {
  const archivedHome = async (): Promise<string> => {
    const { env } = await openService({
      ...bulk,
      extraMessages: { ...bulk.extraMessages, count: isWhole ? 7000 : 1100 },
    });
    const home = temporaryHome();
    await start('archive pull kept --channel firmware --topic bulk', { env, home }).ended;
    return home;
  };

  test.each(
    sampleOf(1, [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const),
  )('%s: its exit code, and no part of a file', needs('signals'), async (signal, exit) => {
    const home = await archivedHome();
    const env = { ...killedAt('1:after'), KILL_IN: 'out.html', KILL_WITH: signal };
    const done = await start('archive export kept -o html --pages one --to out.html', { home, env }).ended;

    expect({ code: done.code, stdout: done.stdout }).toEqual({ code: exit, stdout: '' });
    expect(readdirSync(home).filter((name) => name.includes('out.html'))).toEqual([]);
  });
});

describe('kill -9', needs('signals'), () => {
  test('of a pull at steps of its writing: the export is byte for byte that of an undisturbed pull', async () => {
    const count = isWhole ? 7000 : 1100;
    const { env } = await openService({ ...bulk, extraMessages: { ...bulk.extraMessages, count } });
    const [home, calm] = [temporaryHome(), temporaryHome()];
    const pull = 'archive pull kept --channel firmware --topic bulk --both';
    await start(pull, { env, home: calm }).ended;

    const moments = ['2:before', '8:torn', '17:torn', '21:after', '28:before', '7:after'];
    for (const moment of isWhole ? moments : ['4:torn']) {
      const { signal, code, stderr } = await start(pull, { env: { ...env, ...killedAt(moment) }, home }).ended;
      expect(`${moment} ${signal ?? code} ${stderr}`).toBe(`${moment} SIGKILL `);
    }
    const last = await start(pull, { env, home }).ended;

    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    const line = 'archive export kept -o ndjson --raw-content';
    const [one, other] = [await start(line, { home }).ended, await start(line, { home: calm }).ended];
    expect(one.stdout.length).toBeGreaterThan(400 * count);
    expect(one.stdout === other.stdout).toBe(true);
  });
});

// Every call of a purge is a moment in the world purge of test/simulation.
test(
  'kill -9 again and again: --confirm of --match also counts what earlier runs deleted',
  needs('signals'),
  async () => {
    const { sandbox, env } = await openService();
    sandbox.state.post({ channel: 'firmware', topic: 'boot times', content: '4 s' });
    const others = sandbox.state
      .messages()
      .filter(({ stream_id, subject }) => stream_id !== 2 || !subject.startsWith('b'));
    const home = temporaryHome();
    const line = `topic delete firmware --match b* --confirm 3 --archive ${join(home, 'kept')} -o json`;
    for (const step of [18, ...sampleOf(1, [40, 30, 33, 27, 31, 22])]) {
      const dies = { ...env, ...killedAt(`${step}:after`), KILL_IN: home };
      expect((await start(line, { env: dies, home }).ended).signal).toBe('SIGKILL');
    }
    const last = await start(line, { env, home }).ended;

    expect({ code: last.code, stderr: last.stderr }).toMatchObject({ code: 0 });
    const rows = JSON.parse(last.stdout) as { topic_name: string; deleted: number }[];
    const counts = Object.fromEntries(rows.map(({ topic_name, deleted }) => [topic_name, deleted]));
    expect(counts).toEqual({ 'boot times': 1, 'battery curve': 3, 'bootloader 1.4': 6 });
    expect(sandbox.state.messages()).toEqual(others);
    const kept = readdirSync(join(home, 'kept'), { recursive: true, encoding: 'utf8' });
    const parts = kept.filter((name) => /source-\d+\.ndjson$/.test(name));
    const texts = parts.map((name) => readFileSync(join(home, 'kept', name), 'utf8'));
    expect(texts.join('').match(/\n/g)).toHaveLength(10);
  },
);

test('the first delete_topic is sent after every file of the archive was synced and then read back', async () => {
  const { env } = await openService({ ...bulk, extraMessages: { ...bulk.extraMessages, count: 1010 } });
  const home = temporaryHome();
  const preload = { ...preloaded('test/e2e/steps.cjs'), STEPS_IN: 'kept', STEPS: join(home, 'steps') };
  const line = 'topic delete firmware bulk --confirm bulk --archive kept';

  const { code } = await start(line, { env: { ...env, ...preload }, home }).ended;

  const steps = readFileSync(preload.STEPS, 'utf8').split('\n');
  const before = steps.slice(
    0,
    steps.findIndex((step) => step.startsWith('POST')),
  );
  const lists = before.lastIndexOf('sync parts.ndjson');
  expect(code).toBe(0);
  expect(steps).toContain('POST /api/v1/streams/2/delete_topic');
  for (const file of [
    'rendered-000001.ndjson',
    'source-000001.ndjson',
    'rendered-000002.ndjson',
    'source-000002.ndjson',
  ])
    expect({
      file,
      isSyncedFirst: before.indexOf(`sync ${file}`) < lists,
      isSynced: before.includes(`sync ${file}`),
      isReadAfter: before.lastIndexOf(`read ${file}`) > lists,
    }).toEqual({ file, isSyncedFirst: true, isSynced: true, isReadAfter: true });
  // What was edited since is looked up in the archive after its record is on disk.
  expect(before.filter((step) => !step.startsWith('read ')).at(-1)).toBe('sync purge.ndjson');
});
