import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf, testOfAll } from '../helpers/extent.ts';
import { readFaults } from '../../src/sandbox/faults.ts';
import { openOrigin } from '../helpers/origin.ts';
import { needs } from '../helpers/needs.ts';
import { chatAt, errorOf, openService, start, until } from './program.ts';
import { openTerminal } from './pty.ts';

const licensesAt = (port: number): Record<string, string> => ({
  CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
  CHATELAINE_API_KEY: 'k',
  CHATELAINE_APP_CODE: '7',
});

describe('SIGHUP', () => {
  test('at a terminal ends the command as the others do', needs('terminals'), async () => {
    const { port, seen } = await openOrigin(() => undefined);
    // Not `chatelaine`, a function of the shell: the process of that would be a shell.
    const line = `"$NODE" "$PROGRAM" license list -o json & P=$!; read; kill -HUP $P; wait $P; echo "exit $?"`;
    const terminal = openTerminal(line, { env: licensesAt(port) });
    await until(() => seen.length === 1);
    terminal.type('\r');
    const { output } = await terminal.ended;
    expect(output).toContain('"message":"the terminal was closed"');
    expect(output).toContain('exit 129');
  });

  test('without a terminal ends nothing: nohup works, whose deafness Node undoes', needs('signals'), async () => {
    const { port, seen } = await openOrigin((_request, count) => (count === 1 ? { status: 503 } : {}));
    const run = start('license list -o json', { env: licensesAt(port) });
    await until(() => seen.length === 1);
    run.child.kill('SIGHUP');
    run.child.kill('SIGHUP');
    expect(await run.ended).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
  });
});

describe('in a delete call', () => {
  const purging = async (fault: string) => {
    const { sandbox, env } = await openService({ faults: readFaults(`POST */delete_topic=${fault}`, 1) });
    for (const content of ['one', 'two']) sandbox.state.post({ channel: 'firmware', topic: 'race', content });
    const run = start('topic delete firmware race --confirm race -o json', { env });
    await until(() => sandbox.state.topic('firmware', 'race').length === 0);
    const record = (): string => {
      const root = join(run.home, '.local/state/chatelaine/purges');
      return readFileSync(join(root, readdirSync(root)[0] ?? '', 'purge.ndjson'), 'utf8');
    };
    return { run, record, env };
  };

  test('Ctrl-C waits for the answer, and the next run proves the deletion', needs('signals'), async () => {
    const { run, record, env } = await purging('slow@1s');
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(record()).toMatch(/"asked"\}\n\{"call":"whole"\}\n\{"look":[^\n]*"missing":\[\d+,\d+\][^\n]*\n$/);
    const next = await start('topic delete firmware race -o json', { env, home: run.home }).ended;
    expect({ code: next.code, rows: JSON.parse(next.stdout) as unknown }).toMatchObject({
      ...{ code: 0, rows: [{ deleted: 2, status: 'deleted' }] },
    });
  });

  test.each(
    sampleOf(1, [
      ['a second Ctrl-C', ['SIGINT', 'SIGINT'], 130],
      ['SIGTERM after Ctrl-C', ['SIGINT', 'SIGTERM'], 130],
      ['SIGTERM', ['SIGTERM'], 143],
    ] as const),
  )('%s leaves at once with a row: asked, no answer', needs('signals'), async (_what, sent, end) => {
    const { run, record, env } = await purging('hang-after');
    for (const [index, signal] of sent.entries()) {
      if (index > 0) await run.shows(/waiting for the response to the delete call under way/);
      run.child.kill(signal);
    }
    const left = await run.ended;
    expect(left).toMatchObject({ code: end, stdout: expect.stringContaining('"incomplete"') as string });
    expect(errorOf(left).message).toContain('the server continues the delete request');
    expect(record()).toMatch(/"asked"\}\n$/);
    const next = await start('topic delete firmware race -o json', { env, home: run.home }).ended;
    expect({ code: next.code, error: errorOf(next).message }).toMatchObject({
      code: 8,
      error: expect.stringContaining(
        'the last delete call of an earlier run had no response; 2 messages were left before it',
      ) as string,
    });
  });
});

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

describe.each(signals)('%s', needs('signals'), (signal, exit) => {
  // The other signal differs in its number alone.
  const long = signal === 'SIGINT' ? test : testOfAll;

  test('ends a request that hangs, with one JSON error', async () => {
    const { port, seen } = await openOrigin(() => undefined);
    const run = start('messages fetch -o json', { env: chatAt(port) });
    await until(() => seen.length === 1);
    run.child.kill(signal);
    const done = await run.ended;
    expect({ code: done.code, stdout: done.stdout, error: errorOf(done) }).toMatchObject({
      code: exit,
      error: { code: 'cancelled', exit },
    });
    expect(JSON.parse(done.stdout === '' ? '[]' : done.stdout)).toEqual([]);
  });

  testOfAll('ends an expression of jq that never ends', needs('proc'), async () => {
    const { sandbox, env } = await openService();
    const run = start('license create --remote-user ada --size-allowance 3 --jq last(repeat(1))', { env });
    await until(() => sandbox.state.licenses().some(({ remote_user }) => remote_user === 'ada'));
    const before = cpuSeconds(run.child.pid);
    await until(() => cpuSeconds(run.child.pid) > before + 0.6);
    run.child.kill(signal);
    const ended = await run.ended;
    expect({ code: ended.code, written: JSON.parse(ended.stdout) as unknown }).toMatchObject({
      code: exit,
      written: { remote_user: 'ada', license_code: expect.any(String) as unknown },
    });
  });

  long('in the middle of a list leaves a whole document', async () => {
    const { port, seen } = await openOrigin((_request, count) =>
      count > 1
        ? undefined
        : {
            body: JSON.stringify({
              result: 'success',
              msg: '',
              found_newest: false,
              messages: Array.from({ length: 1000 }, (_unused, index) => ({ id: index + 1, subject: 's' })),
            }),
          },
    );
    const run = start('messages fetch --all -o json', { env: chatAt(port) });
    await until(() => seen.length === 2);
    run.child.kill(signal);
    const done = await run.ended;
    expect(done.code).toBe(exit);
    expect(JSON.parse(done.stdout)).toHaveLength(1000);
    expect(errorOf(done).exit).toBe(exit);
  });

  long('ends a wait between two attempts', async () => {
    const { port, seen } = await openOrigin(() => ({ status: 429, headers: { 'retry-after': '100' }, body: '{}' }));
    const run = start('license list -o json', { env: licensesAt(port) });
    await until(() => seen.length === 1);
    run.child.kill(signal);
    const done = await run.ended;
    expect({ code: done.code, error: errorOf(done).code }).toEqual({ code: exit, error: 'cancelled' });
  });

  long('again, while answers are waited for, ends the process at once', needs('signals'), async () => {
    const { port, seen } = await openOrigin(({ method }) => (method === 'GET' ? { body: '[]' } : undefined));
    const stdin = 'remote_user,size_allowance\nada,3';
    const run = start('license apply - --input-format csv --timeout 1h -o ndjson', { env: licensesAt(port), stdin });
    await until(() => seen.some(({ method }) => method === 'POST'));
    run.child.kill(signal);
    await run.shows(/the same signal again ends at once/);
    run.child.kill(signal);
    expect(await run.ended).toMatchObject({ code: null, signal });
  });

  long('during the POST of license create says that it may have happened', async () => {
    const { port, seen } = await openOrigin(({ method }) => (method === 'GET' ? { body: '[]' } : undefined));
    const run = start('license create --remote-user ada --size-allowance 4 --timeout 5s -o json', {
      env: licensesAt(port),
    });
    await until(() => seen.some(({ method }) => method === 'POST'));
    run.child.kill(signal);
    const done = await run.ended;
    expect(done.code).toBe(exit);
    expect(errorOf(done).message).toContain('may or may not have been processed');
  });
});

/** CPU time of a process: more than the end of a request and a start of jq need means that the filter runs. */
function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
