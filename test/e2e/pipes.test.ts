import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { generalFormats } from '../../src/output/formats.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin, type Respond } from '../helpers/origin.ts';
import { chatAt, openService, shell, storeProfiles, temporaryHome, type Done } from './program.ts';

/** What a program in a pipe owes to its neighbours. */

const page = (messages: readonly object[], found_newest: boolean): ReturnType<Respond> => ({
  body: JSON.stringify({ result: 'success', msg: '', found_newest, found_oldest: true, messages }),
});

/** As long as anybody asks, there is another page. */
const endless: Respond = ({ url }) => {
  const { searchParams: asked } = new URL(url, 'http://x');
  const anchor = Number(asked.get('anchor'));
  const first = Number.isNaN(anchor) ? 1 : anchor + (asked.get('include_anchor') === 'false' ? 1 : 0);
  return page(
    Array.from({ length: 1000 }, (_unused, index) => ({ id: first + index, subject: 's', content: 'x'.repeat(500) })),
    false,
  );
};

const statuses = ({ stdout }: Done): string | undefined => /status:(.*)/.exec(stdout)?.[1];

describe('a reader that goes away', () => {
  test.each(
    sampleOf(
      1,
      generalFormats.filter((format) => format !== 'table'),
    ),
  )('ends a list at once, silently (%s)', needs('shell'), async (format) => {
    const { port, seen } = await openOrigin(endless);
    const line = `chatelaine messages fetch --all -o ${format} | head -5; echo "status:\${PIPESTATUS[*]}"`;
    const done = await shell(line, { env: chatAt(port) }).ended;
    expect({ statuses: statuses(done), stderr: done.stderr }).toEqual({ statuses: '0 0', stderr: '' });
    // The second page is asked for while the first is written.
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  test('does not wait for the answer that is on its way', needs('shell'), async () => {
    const { port } = await openOrigin((request, count) => (count < 3 ? endless(request, count) : undefined));
    const fetch = 'chatelaine messages fetch --all --timeout 1h -o ndjson';
    const line = `${fetch} | head -1; echo "status:\${PIPESTATUS[*]}"`;
    const done = await shell(line, { env: chatAt(port) }).ended;
    expect({ statuses: statuses(done), stderr: done.stderr }).toEqual({ statuses: '0 0', stderr: '' });
  });

  test.each(sampleOf(1, ['ndjson', 'tsv', 'json']))(
    'does not end the work of a roster (%s)',
    needs('shell'),
    async (format) => {
      const { sandbox, env } = await openService();
      const home = temporaryHome();
      const rows = Array.from({ length: 40 }, (_unused, index) => `pipe-${index},3`);
      writeFileSync(join(home, 'roster.csv'), ['remote_user,size_allowance', ...rows].join('\n'));
      const line = `chatelaine license apply roster.csv -q -o ${format} | head -1; echo "status:\${PIPESTATUS[*]}"`;
      const done = await shell(line, { env, home }).ended;
      expect({ statuses: statuses(done), stderr: done.stderr }).toEqual({ statuses: '0 0', stderr: '' });
      const users = sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('pipe-'));
      expect(new Set(users.map(({ remote_user }) => remote_user)).size).toBe(40);
      expect(users).toHaveLength(40);
    },
  );

  test('that was never there does not end settings set between its requests', needs('shell'), async () => {
    const { port, seen } = await openOrigin();
    const line =
      'chatelaine settings set email=ada@example.org full_name=Ada color_scheme=dark -o ndjson --yes | head -0; echo "status:${PIPESTATUS[*]}"';
    const done = await shell(line, { env: chatAt(port) }).ended;
    expect(statuses(done)).toBe('0 0');
    const changes = seen.filter(({ method }) => method === 'PATCH').map(({ body }) => /^[a-z_]+/.exec(body)?.[0]);
    expect(changes).toEqual(['email', 'full_name']);
  });

  test('of the messages does not break the data', needs('shell'), async () => {
    const { env } = await openService();
    const done = await shell('chatelaine license list -o json --trace 2> >(true)', { env }).ended;
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toHaveLength(6);
  });
});

test('bash runs what a dry run prints, with the keys of two stored profiles', needs('curl', 'shell'), async () => {
  const { sandbox } = await openService();
  const home = temporaryHome();
  const [ours, others] = sandbox.licensing.apps;
  storeProfiles(home, sandbox.licensing);
  const rows = [ours, others].map(({ app_code }, index) => `piped-${index},${app_code},3`);
  writeFileSync(join(home, 'roster.csv'), ['remote_user,app_code,size_allowance', ...rows].join('\n'));
  const script = [
    'set -e -o pipefail; export -f chatelaine',
    `chatelaine license apply roster.csv -p app-${ours.app_code} --dry-run -o curl | bash -eu`,
  ];
  const { code, stdout, stderr } = await shell(script.join('\n'), { home }).ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout + stderr).not.toContain(ours.api_key);
  const users = sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('piped-'));
  expect(users.map(({ remote_user }) => remote_user).sort()).toEqual(['piped-0', 'piped-1']);
});

describe('seven megabytes', () => {
  const messages = Array.from({ length: 100 }, (_unused, index) => ({
    id: index + 1,
    subject: 'big',
    content: `${index} ${'ä€𝒳\\"\n'.repeat(5000)}`,
  }));
  const whole = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  const hash = createHash('sha256').update(whole).digest('hex');

  test('arrive whole through a slow pipe', needs('shell'), async () => {
    expect(Buffer.byteLength(whole)).toBeGreaterThan(7_000_000);
    const { port } = await openOrigin(() => page(messages, true));
    // Each of its reads takes so little that the pipe is full to the end.
    const slow = 'dd ibs=64 obs=64K status=none';
    const line = `chatelaine messages fetch -o ndjson | ${slow} | sha256sum; echo "status:\${PIPESTATUS[*]}"`;
    const done = await shell(line, { env: chatAt(port) }).ended;
    // On a busy machine the answer takes more than ten seconds.
    expect(done.stderr.replace(/^no answer from 127.0.0.1:\d+ for 10 s\n/, '')).toBe(
      'only the newest 100 messages are shown; --limit N or --all shows more\n',
    );
    expect(done.stdout).toBe(`${hash}  -\nstatus:0 0 0\n`);
  });
});

describe('a full disk under stdout', needs('devices', 'shell'), () => {
  test.each(
    sampleOf(1, [
      'license list',
      'license list -o json',
      'messages fetch -o ndjson',
      'license view --remote-user physio-7731 -q',
      'license create --remote-user full --size-allowance 4 -o json',
      '--help',
      'license --help',
    ]),
  )('is a clean error: %s', needs('shell'), async (words) => {
    const { env } = await openService();
    const done = await shell(`chatelaine ${words} > /dev/full`, { env }).ended;
    expect(done.code).toBe(8);
    expect(done.stderr).toMatch(/the result could not be written: no space left on device(\n|",)/);
    expect(done.stderr).not.toMatch(/bug|\n {4}at /);
  });
});

describe('streams that are not there', () => {
  test.each([
    ['stdin', '<&-', 0],
    ['stderr', '2>&-', 0],
  ])('%s closed', needs('shell'), async (_what, redirection, code) => {
    const { env } = await openService();
    const done = await shell(`chatelaine license list -o json ${redirection}`, { env }).ended;
    expect(done.code).toBe(code);
    expect(JSON.parse(done.stdout)).toHaveLength(6);
  });

  test('stdout closed is no crash', needs('shell'), async () => {
    const { env } = await openService();
    const done = await shell('chatelaine license list -o json >&-', { env }).ended;
    expect(done.stderr).not.toMatch(/bug|\n {4}at /);
  });
});
