import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf, type DeleteReply } from '../../helpers/chat-server.ts';
import { emptyHome, runAlone, type Ran } from '../../helpers/run.ts';

type Row = Readonly<Record<string, unknown>>;

const stateOf = (home: string): string => join(home, '.local/state/chatelaine');
const rowsIn = ({ stdout }: Ran): readonly Row[] => JSON.parse(stdout) as readonly Row[];
const march = (day: number): number => Date.UTC(2026, 2, day, 12);

function linesOf(home: string): readonly string[] {
  const names = readdirSync(stateOf(home)).filter((name) => name.startsWith('history-') && name.endsWith('.ndjson'));
  return names.flatMap((name) =>
    readFileSync(join(stateOf(home), name), 'utf8')
      .trim()
      .split('\n'),
  );
}

async function openKitchen(deleteReply?: (call: number) => DeleteReply | undefined) {
  const server = await openChatServer({
    messages: [
      ...topicOf('lunch', idsBetween(1, 20)),
      ...topicOf('LUNCH', [21]),
      ...topicOf('tea', idsBetween(31, 33)),
    ].map((message) => ({ ...message, content: 'a text that stays here' })),
    channels: [{ stream_id: 5, name: 'kitchen' }],
    deletesPerCall: 8,
    ...(deleteReply && { deleteReply }),
  });
  const home = emptyHome();
  const purge = (topic: string, options = '', given = {}): Promise<Ran> =>
    server.run(`topic delete 5 ${topic} --confirm ${topic} ${options}`, { home, ...given });
  const history = async (options = ''): Promise<readonly Row[]> =>
    rowsIn(await server.run(`topic history -o json ${options}`, { home }));
  return { server, home, purge, history };
}

const told = ({ topic_name, messages, deleted, unseen, status }: Row): Row => ({
  topic_name,
  messages,
  deleted,
  unseen,
  status,
});

/** Puts a folder back to what it was when `keep` was called, as a kill of the program at that moment leaves it. */
function imageOf(folder: () => string) {
  const image = join(emptyHome(), 'image');
  const filter = (name: string): boolean => !/(lock|live)$/.test(name);
  return {
    keep: () => cpSync(folder(), image, { recursive: true, filter }),
    restore() {
      rmSync(folder(), { recursive: true });
      cpSync(image, folder(), { recursive: true });
    },
  };
}

test('the archive is where it is, from whatever folder it was named', async () => {
  const { home, purge, history } = await openKitchen();
  const folder = join(home, 'kept');
  expect((await purge('lunch', `--archive ${relative(process.cwd(), folder)}`)).exitCode).toBe(0);
  const [row = {}] = await history();
  expect(String(row['archive']).startsWith(`${folder}/`)).toBe(true);
});

test.each(['', '--no-archive'])(
  'a purge is a row: when, by whom, what, how many, and where it is kept (%s)',
  async (archive) => {
    const { home, purge, history, server } = await openKitchen();
    expect((await purge('lunch', archive)).exitCode).toBe(0);

    const [row = {}, ...others] = await history();

    expect(others).toEqual([]);
    expect(row).toMatchObject({
      ...{ time: '2026-03-01T12:00:00.000Z', command: 'topic delete', email: 'ada@chat.test', stream_id: 5 },
      ...{ channel: 'kitchen', topic_name: 'lunch', messages: 21, deleted: 21 },
      ...{ unseen: 0, arrived: 0, status: 'deleted' },
    });
    expect([row['account'], row['run'], row['computer']].every((text) => typeof text === 'string')).toBe(true);
    expect(row['origin']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const place = join(stateOf(home), 'purges', '5-lunch-');
    expect(String(row['archive']).startsWith(archive === '' ? place : 'null')).toBe(true);
    const lines = linesOf(home);
    expect(lines).toHaveLength(2);
    expect(lines.every((line) => /,"sum":"[\da-f]{8}"\}$/.test(line))).toBe(true);
    expect(lines.join('\n')).not.toMatch(/chat-key-9b2e44|a text that stays here/);
    expect(server.messages.map(({ id }) => id)).toEqual([31, 32, 33]);
  },
);

test('a dry run, a refused one and one that was not confirmed write nothing', async () => {
  const { home, purge, history, server } = await openKitchen();
  await purge('lunch', '--dry-run');
  await server.run('topic delete 5 lunch --confirm tea', { home });
  await purge('lunch', '--max-messages 3');

  expect(await history()).toEqual([]);
});

test('--since, --until, --match, --run, --count-by, csv', async () => {
  const { home, purge, history, server } = await openKitchen();
  await purge('lunch', '', { now: march(1) });
  await purge('tea', '', { now: march(9) });
  const all = await history();
  const names = async (options: string) => (await history(options)).map(({ topic_name }) => topic_name);

  expect(all.map(told)).toEqual([
    { topic_name: 'lunch', messages: 21, deleted: 21, unseen: 0, status: 'deleted' },
    { topic_name: 'tea', messages: 3, deleted: 3, unseen: 0, status: 'deleted' },
  ]);
  expect(await names('--since 2026-03-05')).toEqual(['tea']);
  expect(await names('--until 2026-03-05')).toEqual(['lunch']);
  expect(await names('--match LUN*')).toEqual(['lunch']);
  expect(await names(`--run ${String(all[1]?.['run']).toLowerCase()}`)).toEqual(['tea']);
  const counted = await server.run('topic history --count-by time:week -o json', { home });
  expect(rowsIn(counted)).toEqual([
    { time: '2026-02-23', count: 1 },
    { time: '2026-03-02', count: 0 },
    { time: '2026-03-09', count: 1 },
  ]);
  expect((await server.run('topic history -o csv', { home })).stdout.split('\r\n')[0]).toContain(
    'time,run,account,computer',
  );
});

test.each([
  ['', { messages: 21, deleted: 21, unseen: 0, status: 'deleted' }],
  ['--no-archive', { messages: 13, deleted: 13, unseen: 0, status: 'deleted' }],
])('a killed purge is unfinished, and the run that continues it is a row of its own (%s)', async (archive, end) => {
  let home = '';
  const image = imageOf(() => stateOf(home));
  const { server, ...kitchen } = await openKitchen((call) => {
    if (call !== 2) return undefined;
    image.keep();
    return { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 0 };
  });
  ({ home } = kitchen);
  await kitchen.purge('lunch', archive);
  image.restore();
  const killed = { topic_name: 'lunch', messages: 21, deleted: null, unseen: null, status: 'unfinished' };

  expect((await kitchen.history()).map(told)).toEqual([killed]);
  expect((await kitchen.purge('lunch', archive, { now: march(3) })).exitCode).toBe(0);
  const rows = await kitchen.history();
  expect(rows.map(told)).toEqual([killed, { topic_name: 'lunch', ...end }]);
  for (const span of ['--since 2026-03-02', '--until 2026-03-02']) expect(await kitchen.history(span)).toHaveLength(1);
  expect(server.messages).toHaveLength(3);
});

test('a run that fails in the middle is incomplete, with what it deleted', async () => {
  const later = { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'Later' }, deletes: 5 };
  const { purge, history } = await openKitchen((call) => (call === 2 ? later : undefined));
  expect((await purge('lunch')).exitCode).toBe(8);
  expect((await history()).map(told)).toEqual([
    { topic_name: 'lunch', messages: 21, deleted: 8, unseen: 0, status: 'incomplete' },
  ]);
});

test('--profile shows what was done with the key of that profile', async () => {
  const { server, home, purge, history } = await openKitchen();
  await purge('tea');
  const [{ origin } = {}] = await history();
  const none = {
    CHATELAINE_CHAT_SITE: undefined,
    CHATELAINE_CHAT_EMAIL: undefined,
    CHATELAINE_CHAT_API_KEY: undefined,
  };
  for (const name of ['ada', 'eva']) {
    const line = `auth login chat --site ${String(origin)} --email ${name}@chat.test --name ${name} --api-key-stdin`;
    expect(await server.run(line, { home, env: none, stdin: 'chat-key-1\n' })).toMatchObject({ exitCode: 0 });
  }
  await server.run('topic delete 5 lunch --confirm lunch -p eva', { home, env: none });
  const names = async (options: string) => (await history(options)).map(({ topic_name }) => topic_name);

  expect(await names('')).toEqual(['tea', 'lunch']);
  expect(await names('-p ada')).toEqual(['tea']);
  expect(await names('-p eva')).toEqual(['lunch']);
  await server.run('auth logout eva', { home, env: none });
  expect(await names('-p eva')).toEqual(['lunch']);
  expect(await server.run('topic history -p iva', { home })).toMatchObject({ exitCode: 3 });
});

test('the embedded sandbox has one name', async () => {
  const home = emptyHome();
  const line = "--sandbox topic delete general 'calibration log' --confirm 'calibration log'";
  expect(await runAlone(line, { home, bare: true })).toMatchObject({ exitCode: 0 });
  const history = await runAlone('--sandbox topic history -o json', { home, bare: true });
  expect(rowsIn(history)).toMatchObject([{ origin: 'sandbox', status: 'deleted' }]);
});
