import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { emptyHome, openSandbox } from '../helpers/run.ts';

/** Names that tsv, CSV and shells could take for something else. */
const names = ['CORP\\jdoe', 'CORP\\tom', 'a "b" c', 'O\'Neill; 5" pipe', 'x, y', 'C:\\new'];

async function withNames() {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  const rows = names.map((remote_user) => ({ remote_user, size_allowance: 4 }));
  await run('license apply - --input-format json', { home, stdin: JSON.stringify(rows) });
  const users = () =>
    sandbox.state
      .licenses()
      .map(({ remote_user }) => remote_user)
      .sort();
  return { run, home, users };
}

describe('what license list prints is what license apply reads', () => {
  test.each(sampleOf(2, ['tsv', 'csv', 'ndjson', 'json']))('%s', async (format) => {
    const { run, home, users } = await withNames();
    const before = users();
    for (const [fields, more] of [
      ['', ''],
      ['--fields remote_user,size_allowance', ''],
      ['--fields size_allowance,remote_user,license_code', ''],
      ['--fields remote_user', '--size-allowance 4'],
    ] as const) {
      const { stdout } = await run(`license list ${fields} -o ${format}`, { home });
      const ran = await run(`license apply - ${more} -o json`, { home, stdin: stdout });
      const rows = JSON.parse(ran.stdout) as { remote_user: string; status: string }[];
      expect([format, fields, ran.exitCode]).toEqual([format, fields, 0]);
      expect(rows.filter(({ status }) => status === 'created')).toEqual([]);
    }
    expect(users()).toEqual(before);
  });

  test.each(sampleOf(1, ['tsv', 'csv']))('and license audit and first-activation audit: %s', async (format) => {
    const { run, home } = await withNames();
    const { stdout } = await run(`license list -o ${format}`, { home });
    const roster = join(home, 'roster.txt');
    writeFileSync(roster, stdout);
    const audited = await run(`license audit --roster ${roster} -o json`, { home });
    expect(audited.stdout).not.toMatch(/unexpected|missing/);
    const table = [['mac_address', 'remote_user'], ...names.map((name, at) => [`D422CD00030${at}`, name])];
    const sensors = table.map((row) => row.map((cell) => cell.replaceAll('\\', '\\\\')).join('\t')).join('\n');
    const found = await run('first-activation audit - -o json', { home, stdin: `${sensors}\n` });
    const users = (JSON.parse(found.stdout) as { remote_user: string }[]).map(({ remote_user }) => remote_user);
    expect(users.sort()).toEqual([...names].sort());
  });

  test('a backslash that somebody doubled is a similar name for apply, which reads the list', async () => {
    const { run, home } = await withNames();
    const applied = await run('license apply - -o json', {
      home,
      stdin: 'remote_user,size_allowance\nCORP\\\\jdoe,4\n',
    });
    expect(applied.stdout).toContain('"failed"');
  });
});

describe('a list on standard input', () => {
  test('has the name of our column on its first line', async () => {
    const { run, home } = await withNames();
    const user = "license list --remote-user 'CORP\\jdoe' --fields remote_user";
    const code = "license list --remote-user 'CORP\\jdoe' --fields license_code";
    const [key, name] = [(await run(code, { home })).stdout, (await run(user, { home })).stdout];
    expect([name, key.split('\n')[0]]).toEqual(['remote_user\nCORP\\\\jdoe\n', 'license_code']);
    expect((await run('license view --remote-user - -o json', { home, stdin: name })).stdout).toContain('CORP');
    expect((await run('license view - -o json', { home, stdin: key })).stdout).toContain('CORP');
    const retired = await run('license retire - -o json', { home, stdin: key });
    expect([retired.exitCode, retired.stdout]).toEqual([0, expect.stringContaining('left-')]);
    const macs = await run('first-activation - -o json', { home, stdin: 'mac_address\nD422CD000301\n' });
    expect(macs.stdout).not.toContain('mac_address"\n');
    const snippets = await run('snippet list --fields id', { home });
    const removed = await run('snippet rm - -o json', { home, stdin: snippets.stdout });
    expect([removed.exitCode, removed.stdout]).toEqual([0, expect.stringContaining('deleted')]);
  });

  test('whose lines may mean two users is refused', async () => {
    const { run, home } = await withNames();
    const ran = await run('license view -', { home, stdin: 'license_code\nA\\\\B\nA\\B\n' });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('if chatelaine printed it')]);
    for (const line of ['license view --remote-user -', 'license retire --from -']) {
      const { exitCode, stderr } = await run(line, { home, stdin: 'CORP\\\\jdoe\n' });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("'CORP\\jdoe' if chatelaine printed it")]);
    }
  });
});

test.each(sampleOf(1, ['tsv', 'csv', 'ndjson']))(
  'topic delete --from reads what topic list prints: %s',
  async (format) => {
    const { run } = await openSandbox();
    const home = emptyHome();
    const list = await run(`topic list --all-channels -o ${format} -q`, { home });
    const odd = list.stdout.split('\n').length;
    expect(odd).toBeGreaterThan(3);
    const ran = await run('topic delete --from - --dry-run -o json', { home, stdin: list.stdout });
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.any(String)]);
    const names = await run('topic list general --fields topic_name', { home });
    const some = await run('topic delete general --from - --dry-run -o json', { home, stdin: names.stdout });
    expect([some.exitCode, some.stderr]).toEqual([0, expect.not.stringContaining('topic_name')]);
  },
);

test('topic delete --from reads a topic with quotes and backslashes', async () => {
  const { run } = await openSandbox();
  const { stdout } = await run('channel list -o json');
  const [channel] = JSON.parse(stdout) as { stream_id: number; name: string }[];
  const stdin = `topic_name\tstream_id\tchannel\na\\\\b "c"\t${channel?.stream_id}\t${channel?.name}\n`;
  const rows = await run('topic delete --from - --dry-run', { stdin });
  expect([rows.exitCode, rows.stderr]).toEqual([5, expect.stringContaining(`the topic 'a\\b "c"'`)]);
  const list = await run(['topic', 'delete', channel?.name ?? '', '--from', '-', '-n'], {
    stdin: 'topic_name\na\\\\b "c"\n',
  });
  expect([list.exitCode, list.stderr]).toEqual([5, expect.stringContaining(`the topic 'a\\b "c"'`)]);
});
