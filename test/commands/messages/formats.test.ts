import { describe, expect, test } from 'vitest';
import { inZone } from '../../helpers/zone.ts';
import { fakeService, run, type RunOptions } from '../../helpers/run.ts';

const newest = { anchor: 'newest', num_before: '100', num_after: '0' };
const sent = Date.UTC(2026, 2, 1, 23, 30) / 1000;

const messages = [
  {
    id: 256002,
    type: 'stream',
    stream_id: 31,
    display_recipient: 'bulk',
    subject: 'every shape',
    sender_full_name: 'Ada',
    timestamp: sent,
    content_type: 'text/html',
    content: '<p>A <strong>bold</strong> <a href="/help">word</a></p><ul><li>one</li></ul>',
  },
  { id: 256003, type: 'private', display_recipient: [{ id: 9 }, { id: 8 }], timestamp: sent, content: '<p>hi</p>' },
];

async function fetched(words: string, options: RunOptions = {}): ReturnType<typeof run> {
  const service = fakeService();
  service.expect({ method: 'GET', path: '/api/v1/messages', query: newest }).reply(200, {
    ...{ result: 'success', msg: '', anchor: 256003 },
    ...{ found_anchor: true, found_newest: true, found_oldest: true, history_limited: false },
    messages,
  });
  const ran = await run(service, `messages fetch ${words}`, options);
  if (ran.exitCode === 0) service.done();
  return ran;
}

describe('-o text', () => {
  test('is what a terminal shows, in the time zone of TZ', async () => {
    inZone('Europe/Paris');
    const { exitCode, stdout } = await fetched('', { tty: true });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('#bulk > every shape — Monday 2 March 2026');
    expect(stdout).toContain('00:30  ');
    expect(stdout).toMatch(/^ {2}A .*bold.* word .*<https?:\/\/[^ /]+\/help>/m);
    expect(stdout).toContain('• one');
    expect(stdout).not.toContain('<p>');
  });

  test('can be asked for in a pipe, by option and by environment', async () => {
    const typed = await fetched('-o text');
    expect(typed.stdout).toContain('#bulk > every shape — Sunday 1 March 2026');
    expect((await fetched('', { env: { CHATELAINE_OUTPUT: 'text' } })).stdout).toBe(typed.stdout);
  });

  test('a TZ that is no name leaves the zone of the system', async () => {
    inZone('Nowhere/Atall');
    expect((await fetched('-o text')).exitCode).toBe(0);
  });

  test('has no fields: typed with --fields it is refused before anything is sent', async () => {
    const { exitCode, stderr } = await fetched('-o text --fields id');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('-o text shows conversations, which have no fields');
  });

  test('gives way to a table on a terminal where fields are asked for', async () => {
    const { stdout } = await fetched('--fields id --no-header', { tty: true });
    expect(stdout).toBe('256002\n256003\n');
  });
});

describe('time and url', () => {
  const rows = [
    { id: 256002, time: '2026-03-01T23:30:00Z', url: '/#narrow/channel/31-bulk/topic/every.20shape/near/256002' },
    { id: 256003, time: '2026-03-01T23:30:00Z', url: '/#narrow/dm/8,9-dm/near/256003' },
  ];
  const host = /https?:\/\/[^/"]+/g;

  test('come with --fields in JSON', async () => {
    inZone('Europe/Paris');
    const { stdout } = await fetched('--fields id,time,url -o json');
    expect(JSON.parse(stdout.replace(host, ''))).toEqual(rows);
  });

  test('come with --fields in tsv', async () => {
    const { stdout } = await fetched('--fields time,url -o tsv --no-header');
    expect(stdout.replace(host, '')).toBe(rows.map(({ time, url }) => `${time}\t${url}\n`).join(''));
  });

  test('come nowhere else: the fields of the server are untouched', async () => {
    expect(JSON.parse((await fetched('-o json')).stdout)).toEqual(messages);
    expect((await fetched('-o csv')).stdout.split('\n')[0]).toBe(
      'id,timestamp,sender_full_name,display_recipient,subject,content',
    );
  });
});

test.each(['csv', 'tsv'])(
  '%s has the people of a direct message whole where they are asked for by name',
  async (format) => {
    const words = (await fetched(`-o ${format} --no-header`)).stdout.split('\n')[1];
    const { stdout } = await fetched(`-o ${format} --fields display_recipient --no-header`);

    expect(words).toContain('unknown user, unknown user');
    expect(stdout.replaceAll('""', '"')).toContain('[{"id":9},{"id":8}]');
  },
);

describe('a format of one command', () => {
  test.each(['text', 'html'])('%s is refused where a command does not offer it', async (format) => {
    const { exitCode, stderr } = await run(fakeService(), `license list -o ${format}`);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`--output: '${format}' is not`);
  });

  test('is ignored from the environment there', async () => {
    const service = fakeService();
    service.expect({ method: 'GET', path: '/v1/license/' }).reply(200, []);
    const { exitCode, stdout } = await run(service, 'license list', { env: { CHATELAINE_OUTPUT: 'text' } });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'license_code\tremote_user\tapp_code\tsize_allowance\n',
    });
  });
});

test('the link of a topic, pasted as a channel, selects that topic', async () => {
  const service = fakeService();
  const narrow = JSON.stringify([
    { operator: 'channel', operand: 31 },
    { operator: 'topic', operand: 'every shape' },
  ]);
  service.expect({ method: 'GET', path: '/api/v1/messages', query: { ...newest, narrow } }).reply(200, {
    ...{ result: 'success', msg: '', anchor: 1, found_anchor: true, found_newest: true, found_oldest: true },
    ...{ history_limited: false, messages: [{ id: 256002, subject: 'every shape', stream_id: 31 }] },
  });
  const link = '#narrow/channel/31-bulk/topic/every.20shape/near/256002';
  expect((await run(service, ['messages', 'fetch', '--channel', link])).exitCode).toBe(0);
  service.done();
});
