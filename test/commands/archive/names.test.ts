import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, type RunningSandbox } from '../../helpers/run.ts';

const newFolder = (): string => join(emptyHome(), 'kept');
const idsOf = (ndjson: string): number[] =>
  ndjson
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly id: number }).id);

describe('a channel that was renamed is one', () => {
  async function renamed(): Promise<RunningSandbox & { readonly folder: string; readonly ids: readonly number[] }> {
    const service = await openSandbox();
    const { state } = service.sandbox;
    const folder = newFolder();
    const first = state.post({ channel: 'firmware', topic: 'race', content: 'one' });
    await service.run(`archive pull ${folder} --channel id:2 --topic race`);
    state.change(({ channels }) => {
      const channel = channels.get(2);
      if (channel) channels.put(2, { ...channel, name: 'hardware' });
    });
    const second = state.post({ channel: 'hardware', topic: 'race', content: 'two' });
    await service.run(`archive pull ${folder}`);
    return { ...service, folder, ids: [first, second] };
  }

  test('each name and the id find all of its messages', async () => {
    const { run, folder, ids } = await renamed();

    for (const channel of ['firmware', 'HARDWARE', 'id:2', '2', 'name:firmware'])
      expect(idsOf((await run(`archive export ${folder} -o ndjson --channel ${channel}`)).stdout)).toEqual(ids);
    const not = await run(`archive export ${folder} -o ndjson --channel general`);
    expect(not.stdout).toBe('');
  });
});

describe('an archive that was begun by the name of a channel is of that channel, whatever its name', () => {
  test.each([
    ['by its id', ''],
    ['whose old name another channel has now', 'firmware'],
  ])('%s', async (_what, others) => {
    const { run, sandbox } = await openSandbox();
    const { state } = sandbox;
    const folder = newFolder();
    const line = `archive pull ${folder} --channel firmware -o json`;
    const first = state.post({ channel: 'firmware', topic: 'race', content: 'one' });
    await run(line);
    state.change(({ channels }) => {
      const channel = channels.get(2);
      if (channel) channels.put(2, { ...channel, name: 'hardware' });
      const other = channels.get(1);
      if (others && other) channels.put(1, { ...other, name: others });
    });
    const second = state.post({ channel: 'hardware', topic: 'race', content: 'two' });

    for (const again of [line, `archive pull ${folder} -o json`, `${line} --recheck`]) {
      const { exitCode, stdout, stderr } = await run(again);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ folder });
    }
    const ids = idsOf((await run(`archive export ${folder} -o ndjson --topic race`)).stdout);
    expect([ids.includes(first), ids.at(-1)]).toEqual([true, second]);
    expect((await run(`archive export ${folder} -o text --topic race`)).stdout).toContain('#hardware > race');
  });
});

test.each([
  ['of which one message is archived', ['--channel', 'firmware', '--topic', 'later'], [2]],
  ['that is left out', ['--not', 'channel=firmware', '--topic', 'later'], [3]],
  ['of a pair', ['--narrow', '[["channel","firmware"],["topic","later"]]'], [2]],
  ['under the old operator', ['--narrow', '[{"operator":"stream","operand":"Firmware"},["topic","later"]]'], [2]],
])('a channel %s is the same one when another has its name', async (_what, words, channels) => {
  const { run, sandbox } = await openSandbox({ featureLevel: 442 });
  const { state } = sandbox;
  const folder = newFolder();
  const begun = [1, 2, 3].map((id) => {
    const name = state.channels().find(({ stream_id }) => stream_id === id)?.name ?? '';
    return state.post({ channel: name, topic: 'later', content: 'first' });
  });
  expect(await run(['archive', 'pull', folder, ...words])).toMatchObject({ exitCode: 0, stderr: '' });
  state.change(({ channels: rows }) => {
    for (const [id, name] of [
      [2, 'hardware'],
      [3, 'firmware'],
    ] as const) {
      const row = rows.get(id);
      if (row) rows.put(id, { ...row, name });
    }
  });
  const ids = new Map(
    [
      [2, 'hardware'],
      [3, 'firmware'],
    ].map(([id, channel]) => [id, state.post({ channel: String(channel), topic: 'later', content: 'x' })]),
  );

  const { exitCode } = await run(`archive pull ${folder}`);

  expect(exitCode).toBe(0);
  const added = idsOf((await run(`archive export ${folder} -o ndjson`)).stdout).filter((id) => !begun.includes(id));
  expect(added).toEqual(channels.map((id) => ids.get(id)));
});

describe('the empty topic', () => {
  /** An archive of a server below level 334 has the name that the server gives to it. */
  async function emptied(asks: boolean) {
    const service = await openSandbox({ featureLevel: asks ? 372 : 333 });
    const folder = newFolder();
    const id = service.sandbox.state.post({ channel: 'firmware', topic: asks ? '' : 'general chat', content: 'one' });
    await service.run(`archive pull ${folder} --channel firmware`);
    return { ...service, folder, id };
  }

  test.each([true, false])('is found under both of its names, and shown as the server shows it (%s)', async (asks) => {
    const { run, folder, id } = await emptied(asks);

    for (const topic of ['', 'general chat'])
      expect(idsOf((await run(['archive', 'export', folder, '-o', 'ndjson', '--topic', topic])).stdout)).toContain(id);
    expect((await run(['archive', 'export', folder, '-o', 'text', '--topic', ''])).stdout).toContain('> general chat');
  });

  test('an archive has it as the empty name, and one that was begun before keeps the name that it has', async () => {
    const { run, folder, id } = await emptied(true);

    const lines = (await run(['archive', 'export', folder, '-o', 'ndjson', '--topic', ''])).stdout;

    expect(lines.split('\n').find((line) => line.includes(`"id":${id},`))).toContain('"subject":""');
  });
});
