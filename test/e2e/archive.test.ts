import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWhole, sampleOf, testOfAll } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { openService, preloaded, start, temporaryHome } from './program.ts';

/** Kills the process at a step of its writing; bench/torture does so at many more. */
const preload = preloaded('bench/torture/kill-at-disk.cjs');
const killedAt = (moment: string) => ({ ...preload, KILL_AT: moment, KILL_IN: 'kept' });

function hashesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

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

  testOfAll('--deadline: exit 7, and no part of a file', async () => {
    const home = await archivedHome();
    const done = await start('archive export kept -o html --pages one --to out.html --deadline 50ms', { home }).ended;

    expect(done.code).toBe(7);
    expect(done.stderr).toContain('the deadline of 50ms was reached');
    expect(readdirSync(home).filter((name) => name.includes('out.html'))).toEqual([]);
  });
});

describe('kill -9', needs('signals'), () => {
  test('of a pull at steps of its writing: the export is byte for byte that of an undisturbed pull', async () => {
    const count = isWhole ? 7000 : 2100;
    const { env } = await openService({ ...bulk, extraMessages: { ...bulk.extraMessages, count } });
    const [home, calm] = [temporaryHome(), temporaryHome()];
    const pull = 'archive pull kept --channel firmware --topic bulk --both';
    await start(pull, { env, home: calm }).ended;

    const moments = ['2:before', '8:torn', '17:torn', '21:after', '28:before', '7:after'];
    for (const moment of isWhole ? moments : ['4:torn', '9:after']) {
      const { signal, code, stderr } = await start(pull, { env: { ...env, ...killedAt(moment) }, home }).ended;
      expect(`${moment} ${signal ?? code} ${stderr}`).toBe(`${moment} SIGKILL `);
    }
    const last = await start(pull, { env, home }).ended;
    const before = hashesIn(join(home, 'kept'));
    const again = await start('archive pull kept -o json', { env, home }).ended;

    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    for (const form of ['', '--raw-content']) {
      const line = `archive export kept -o ndjson ${form}`.trim();
      const [one, other] = [await start(line, { home }).ended, await start(line, { home: calm }).ended];
      expect(one.stdout.length).toBeGreaterThan(400 * count);
      expect(one.stdout === other.stdout).toBe(true);
    }
    expect(await start('archive verify kept', { home }).ended).toMatchObject({ code: 0 });
    expect(JSON.parse(again.stdout)).toMatchObject({ messages: count, added: 0, repaired: 0 });
    expect(hashesIn(join(home, 'kept'))).toEqual(before);
  });

  // At each of its steps it is killed in the world purge of test/simulation; below it is killed as a process.
  testOfAll(
    'of a purge at steps of its writing: the topic is empty, its archive whole, and other topics untouched',
    async () => {
      const { sandbox, env } = await openService({ ...bulk, extraMessages: { ...bulk.extraMessages, count: 2250 } });
      const ids = sandbox.state.topic('firmware', 'bulk').map(({ id }) => id);
      const others = sandbox.state.messages().length - ids.length;
      const home = temporaryHome();
      const line = 'topic delete firmware bulk --confirm bulk --archive kept';

      for (const moment of ['4:torn', '18:before', '26:after']) {
        const { signal, code, stderr } = await start(line, { env: { ...env, ...killedAt(moment) }, home }).ended;
        expect(`${moment} ${signal ?? code} ${stderr}`).toMatch(`${moment} SIGKILL `);
      }
      expect(sandbox.state.topic('firmware', 'bulk')).toHaveLength(2250);
      // Its record is opened, then a run, a look, the call that came, and the next look are each written and synced.
      const killed = await start(line, { env: { ...env, ...killedAt('9:after'), KILL_IN: 'purge.ndjson' }, home })
        .ended;
      expect(killed.signal).toBe('SIGKILL');
      expect(sandbox.state.topic('firmware', 'bulk').length).toBeLessThan(2250);
      const last = await start(`${line} -o json`, { env, home }).ended;

      expect({ code: last.code, stderr: last.stderr }).toMatchObject({ code: 0 });
      expect(sandbox.state.topic('firmware', 'bulk')).toEqual([]);
      expect(sandbox.state.messages()).toHaveLength(others);
      const [folder = ''] = readdirSync(join(home, 'kept'));
      for (const form of ['', ' --raw-content']) {
        const { stdout } = await start(`archive export kept/${folder} -o ndjson${form}`, { home }).ended;
        const kept = stdout
          .trimEnd()
          .split('\n')
          .map((text) => (JSON.parse(text) as { id: number }).id);
        expect(kept).toEqual(ids);
      }
      expect(existsSync(join(home, 'kept', folder, 'purge.ndjson'))).toBe(true);
    },
  );
});

// Every call of a purge is a moment in the world purge of test/simulation.
test.each(sampleOf(2, [3, 18, 33, 40, 62, 77, 92]))(
  'kill -9 of a purge of many topics at step %i of its writing: the same command ends it',
  needs('signals'),
  async (step) => {
    const { sandbox, env } = await openService();
    sandbox.state.post({ channel: 'firmware', topic: 'boot times', content: '4 s' });
    const others = sandbox.state
      .messages()
      .filter(({ stream_id, subject }) => stream_id !== 2 || !subject.startsWith('b'));
    const home = temporaryHome();
    const line = `topic delete firmware --match b* --confirm 3 --archive ${join(home, 'kept')} -o json`;

    const killed = await start(line, { env: { ...env, ...killedAt(`${step}:after`), KILL_IN: home }, home }).ended;
    const last = await start(line, { env, home }).ended;

    expect(killed.signal).toBe('SIGKILL');
    expect({ code: last.code, stderr: last.stderr }).toMatchObject({ code: 0 });
    const rows = JSON.parse(last.stdout) as { topic_name: string; deleted: number }[];
    const counts = Object.fromEntries(rows.map(({ topic_name, deleted }) => [topic_name, deleted]));
    expect(counts).toEqual({ 'boot times': 1, 'battery curve': 3, 'bootloader 1.4': 6 });
    expect(sandbox.state.messages()).toEqual(others);
    for (const name of readdirSync(join(home, 'kept')))
      expect(readFileSync(join(home, 'kept', name, 'purge.ndjson'), 'utf8')).toContain('"finished"');
    expect(await start(line, { env, home }).ended).toMatchObject({ code: 5 });
  },
);

test('the first delete_topic is sent after every file of the archive was synced and then read back', async () => {
  const { env } = await openService({ ...bulk, extraMessages: { ...bulk.extraMessages, count: 1500 } });
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
  expect(before.filter((step) => !step.startsWith('read ')).at(-1)).toMatch(/^sync (purge\.ndjson|kept.*)$/);
});

testOfAll(
  'kill -9, five times, of a purge over channels: archives and server together are what was there',
  async () => {
    const { sandbox, env } = await openService();
    const home = temporaryHome();
    const list = 'topic list --all-channels --not-channel general -o ndjson';
    const listed = await start(list, { env, home }).ended;
    writeFileSync(join(home, 'old.ndjson'), listed.stdout);
    const rows = listed.stdout.trimEnd().split('\n');
    const topics = new Set(
      rows.map((row) => {
        const { stream_id, topic_name } = JSON.parse(row) as { stream_id: number; topic_name: string };
        return `${stream_id} ${topic_name.toLowerCase()}`;
      }),
    );
    const isDoomed = (row: { readonly stream_id?: number | undefined; readonly subject: string }): boolean =>
      topics.has(`${row.stream_id} ${row.subject.toLowerCase()}`);
    const before = sandbox.state.messages();
    const doomed = before.filter(isDoomed).map(({ id }) => id);
    const line = `topic delete --from old.ndjson --confirm ${rows.length} --archive ${join(home, 'kept')} -o json`;

    const archived = (): Set<number> => {
      const ids = new Set<number>();
      for (const folder of existsSync(join(home, 'kept')) ? readdirSync(join(home, 'kept')) : [])
        for (const name of readdirSync(join(home, 'kept', folder)).filter((file) => file.startsWith('source-')))
          for (const text of readFileSync(join(home, 'kept', folder, name), 'utf8')
            .split('\n')
            .slice(0, -1))
            ids.add((JSON.parse(text) as { id: number }).id);
      return ids;
    };
    const lost = (): number[] => {
      const [kept, alive] = [archived(), new Set(sandbox.state.messages().map(({ id }) => id))];
      return doomed.filter((id) => !kept.has(id) && !alive.has(id));
    };

    const moments = ['30:after', '41:before', '55:after', '33:before', '62:after'];
    for (const moment of moments) {
      const { signal, code, stderr } = await start(line, { env: { ...env, ...killedAt(moment), KILL_IN: home }, home })
        .ended;
      expect(`${moment} ${signal ?? code} ${stderr}`).toMatch(`${moment} SIGKILL `);
      expect(lost()).toEqual([]);
    }
    const last = await start(line, { env, home }).ended;

    expect({ code: last.code, stderr: last.stderr }).toMatchObject({ code: 0 });
    const told = JSON.parse(last.stdout) as { deleted: number; status: string }[];
    expect(told.every(({ status }) => status === 'deleted')).toBe(true);
    expect(told.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(doomed.length);
    expect(sandbox.state.messages()).toEqual(before.filter((row) => !isDoomed(row)));
    expect([...archived()].sort((one, other) => one - other)).toEqual(doomed);
    expect(await start('archive verify kept', { home }).ended).toMatchObject({ code: 0 });
  },
);
