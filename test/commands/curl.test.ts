import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openSandbox, runAlone } from '../helpers/run.ts';

/** `--dry-run -o curl`: bash and curl, given the printed lines, send what the command itself sends. */

interface Seen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly type: string | undefined;
  readonly accept: string | undefined;
  readonly authorization: string | undefined;
  /** Of a form: its names and texts, in their order. */
  readonly body: unknown;
}

const roster = 'remote_user,size_allowance\nada,4\nphysio-7731,9\n"O\'Brien & ""Sons"" $(id) `id`",3\n';
const strange = String.raw`O'Brien "the $HOME" \n ` + '`id` $(id) & ; | #! * ? [a-z] {1,2} ~';
const passwords = { OLD_PASSWORD: 'sandbox-password-of-mara', NEW_PASSWORD: `n'w "p&ss=w%rd" $(id) \\ + é` };

/** Each write command, with how many requests it sends. */
const writes: readonly (readonly [name: string, line: readonly string[], requests: number])[] = [
  ['license create', ['license', 'create', '--remote-user', strange, '--size-allowance', '4'], 1],
  ['license create', ['license', 'create', '--remote-user', 'tab\there\nline', '--size-allowance', '4'], 1],
  ['license edit', ['license', 'edit', '0191A-86552-95939-DF69B', '--size-allowance', '8'], 1],
  [
    'license edit',
    ['license', 'edit', '0191A-86552-95939-DF69B', '--replace', '--remote-user', "O'N"].concat(
      '--app-code 4711 --size-allowance 8'.split(' '),
    ),
    1,
  ],
  ['license rename', ['license', 'rename', 'physio-7731', strange, '--trust-list'], 1],
  ['license retire', ['license', 'retire', '0191A-86552-95939-DF69B'], 1],
  ['license ensure', ['license', 'ensure', '--remote-user', strange, '--size-allowance', '2', '--trust-list'], 1],
  ['license ensure', ['license', 'ensure', '--remote-user', 'physio-7731', '--size-allowance', '9'], 1],
  ['license apply', ['license', 'apply', 'roster.csv', '--concurrency', '1'], 3],
  ['settings set', ['settings', 'set', 'color_scheme=dark', 'timezone=Europe/Berlin', `full_name=Mara's & co = 1`], 1],
  ['settings set', ['settings', 'set', '--from', 'settings.txt'], 2],
  [
    'topic delete',
    ['topic', 'delete', 'general', 'who has dock 4?', '--confirm', 'who has dock 4?', '--no-archive'],
    1,
  ],
  ['view pin', ['view', 'pin', 'inbox', 'narrow/is/starred'], 2],
  ['view hide', ['view', 'hide', 'inbox'], 1],
  ['view rename', ['view', 'rename', 'narrow/is/alerted', `My 'words' & "more"`, '--pin'], 1],
  ['snippet rm', ['snippet', 'rm', '1', '2'], 2],
  ['api licensing', ['api', 'licensing', 'PATCH', 'license/0191A-86552-95939-DF69B/', '-F', 'size_allowance=6'], 1],
  ['api chat', ['api', 'chat', 'PATCH', 'navigation_views/inbox', '-F', 'is_pinned=true'], 1],
];

test('each command that writes is tried', async () => {
  const commands = await Promise.all(commandTable.map(({ load }) => load()));
  const names = commands.flatMap(({ name, dryRun }) => (dryRun?.includes('requests') ? [name] : []));
  // It needs a history: undo.test.ts has its dry run.
  const tried = [...writes.map(([name]) => name), 'license undo'];
  expect([...new Set(tried)].sort()).toEqual(names.sort());
});

describe('curl', needs('curl'), () => {
  test.each(sampleOf(7, writes))('sends what %s sends: %j', async (_name, line, requests) => {
    const [dry, real] = await Promise.all([openRecorded(), openRecorded()]);
    const { exitCode, stdout, stderr } = await dry.run([...line, '--dry-run', '-o', 'curl']);
    expect({ exitCode, lines: stdout.match(/^curl /gm)?.length }).toEqual({ exitCode: 0, lines: requests });
    for (const secret of [
      dry.env['CHATELAINE_API_KEY'],
      dry.env['CHATELAINE_CHAT_API_KEY'],
      ...Object.values(passwords),
    ])
      expect(stdout + stderr).not.toContain(secret ?? '');
    expect(dry.writes()).toEqual([]);

    await execute('bash', ['-euc', stdout], { env: { ...process.env, ...dry.env, ...passwords } });
    const ran = await real.run(line);
    expect(ran.exitCode).toBe(0);
    // A roster's rows that need no lookup go first.
    const sorted = (writes: readonly object[]) => writes.map((write) => JSON.stringify(write)).toSorted();
    expect(sorted(dry.writes())).toEqual(sorted(real.writes()));
  });
});

/** Their dry run is the plan; the requests are lines of curl. */
const planned = /^(license (apply|edit|ensure|rename|retire)|topic delete)$/;

describe('--dry-run shows the exact requests as rows', () => {
  test.each(writes.filter(([name]) => !planned.test(name)))('%s: %j', async (_name, line, requests) => {
    const [dry, real] = await Promise.all([openRecorded(), openRecorded()]);
    const { exitCode, stdout } = await dry.run([...line, '--dry-run', '-o', 'json']);
    expect(exitCode).toBe(0);
    expect(dry.writes()).toEqual([]);
    await real.run(line);
    const sent = real.writes();
    expect(sent).toHaveLength(requests);
    const rows = JSON.parse(stdout) as readonly { method: string; url: string; content_type?: string; body?: string }[];
    expect(rows.map(({ method, url, content_type }) => [method, new URL(url).pathname, content_type])).toEqual(
      sent.map(({ method, path, type }) => [method, path, type]),
    );
    const bodies = rows.map(({ content_type, body }) => bodyOf(content_type, body ?? ''));
    if (!line.includes('--from')) expect(bodies).toEqual(sent.map(({ body }) => body));
  });
});

describe('the lines', () => {
  test('a profile has a variable of its own, which the first line reads', async () => {
    const { env, run } = await openSandbox();
    const home = emptyHome();
    const login = ['auth', 'login', 'licensing', '--base-url', env['CHATELAINE_BASE_URL'] ?? '', '--app-code', '4711'];
    await run([...login, '--name', 'prod-1', '--api-key-stdin'], {
      home,
      bare: true,
      stdin: `${env['CHATELAINE_API_KEY'] ?? ''}\n`,
    });
    const line = 'license create --remote-user ada --size-allowance 4 -n -o curl';
    const { stdout, stderr } = await run(line, { home, bare: true });
    expect(stdout).toBe(
      `KEY_prod_1=$(chatelaine auth token prod-1)\ncurl --globoff --fail-with-body --request POST ${env['CHATELAINE_BASE_URL'] ?? ''}/v1/license/ ` +
        `--header @<(printf 'Authorization: Token %s' "$KEY_prod_1") --header 'Accept: application/json' ` +
        `--header 'Content-Type: application/json' ` +
        `--data-raw '{"remote_user":"ada","app_code":4711,"size_allowance":4}'\n`,
    );
    expect(stderr).toBe('');
  });

  test('profiles of similar names have different variables: a key never goes to the server of another', async () => {
    const { env, run } = await openSandbox();
    const home = emptyHome();
    const names = ['prod-1', 'prod.1', 'prod_1', '_prod-1', 'prod_2e1', 'Prod-1'];
    for (const [index, name] of names.entries())
      await run(
        `auth login licensing --base-url ${env['CHATELAINE_BASE_URL']} --app-code ${index} --name ${name} --api-key-stdin --no-check`,
        { home, bare: true, stdin: 'a-key-of-the-test\n' },
      );
    const variables = await Promise.all(
      names.map(async (name) => {
        const { stdout } = await run(`api licensing DELETE license/x/ -n -o curl -p ${name}`, { home, bare: true });
        return /"\$(\w+)"/.exec(stdout)?.[1];
      }),
    );
    expect(variables.slice(0, 2)).toEqual(['KEY_prod_1', 'KEY__prod_2e1']);
    expect(new Set(variables).size).toBe(names.length);
  });

  test('nothing to send prints nothing that bash would run', async () => {
    const { run } = await openSandbox();
    const { exitCode, stdout, stderr } = await run(
      'license ensure --remote-user physio-7731 --size-allowance 4 -n -o curl',
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toContain('no request would be sent');
  });

  test('a password that is not set ends bash before curl sends an empty one', needs('shell'), async () => {
    const { env, run } = await openRecorded();
    const { stdout, stderr } = await run(['settings', 'set', '--from', 'settings.txt', '--dry-run', '-o', 'curl']);
    expect(stderr).toContain('read -rs OLD_PASSWORD; export OLD_PASSWORD; read -rs NEW_PASSWORD');
    const LINES = stdout.replaceAll(/^curl /gm, 'echo sent ');
    const ran = await execute('bash', ['-c', 'bash -eu <<< "$LINES" || echo refused'], {
      env: { ...process.env, ...env, OLD_PASSWORD: 'old', LINES },
    });
    expect(ran.stdout).toBe('refused\n');
    expect(ran.stderr).toContain('NEW_PASSWORD: parameter null or not set');
  });

  test.each([
    ['license create --remote-user ada --size-allowance 4 -o curl', 'Add --dry-run.'],
    ['license list -n -o curl', "'curl' is not one of"],
    ['snippet rm 2 -n -o curl --fields method', 'Leave out --fields.'],
    ['--sandbox snippet rm 2 -n -o curl', 'Run chatelaine sandbox serve'],
  ])('%s is refused', async (line, words) => {
    const { exitCode, stderr } = await runAlone(line, { env: { CHATELAINE_BASE_URL: 'https://x.example' } });
    expect({ exitCode, isSaid: stderr.includes(words) }).toEqual({ exitCode: 2, isSaid: true });
  });

  test('curl in the environment is for dry runs of writes alone', async () => {
    const { run } = await openSandbox();
    const env = { CHATELAINE_OUTPUT: 'curl' };
    const created = await run('license create --remote-user ada --size-allowance 4', { env });
    expect(created.stdout).toMatch(/^license_code\t/);
    expect((await run('license list', { env })).stdout).toMatch(/^license_code\t/);
    expect((await run('snippet rm 2 -n', { env })).stdout).toMatch(/^curl /);
  });
});

const execute = promisify(execFile);

/** A sandbox behind a server that notes the writes. */
async function openRecorded() {
  const { env, run } = await openSandbox();
  const seen: Seen[] = [];
  const target = new URL(env['CHATELAINE_BASE_URL'] ?? '');
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      if (method !== 'GET') seen.push(noted(method, url, headers, body.toString()));
      const onward = { host: target.hostname, port: target.port, method, path: url, headers };
      const forwarded = httpRequest(onward, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const here: Readonly<Record<string, string>> = { ...env, CHATELAINE_BASE_URL: origin, CHATELAINE_CHAT_SITE: origin };
  const home = emptyHome();
  writeFileSync(join(home, 'roster.csv'), roster);
  const { OLD_PASSWORD, NEW_PASSWORD } = passwords;
  writeFileSync(
    join(home, 'settings.txt'),
    `old_password=${OLD_PASSWORD}\nnew_password=${NEW_PASSWORD}\nenter_sends=true\n`,
  );
  const placed = (word: string): string => (/^(roster\.csv|settings\.txt)$/.test(word) ? join(home, word) : word);
  return {
    env: here,
    // To read settings takes a POST and a DELETE.
    writes: (): readonly Seen[] => seen.filter(({ path }) => !/\/(register|events)$/.test(path)),
    run: (line: readonly string[]) => run(line.map(placed), { env: here, home }),
  };
}

function noted(method: string, path: string, headers: IncomingHttpHeaders, body: string): Seen {
  const { accept, authorization } = headers;
  const type = headers['content-type'];
  return { method, path, type, accept, authorization, body: bodyOf(type, body) };
}

function bodyOf(type: string | undefined, body: string): unknown {
  if (type === undefined) return body;
  return type.includes('json') ? (JSON.parse(body) as unknown) : [...new URLSearchParams(body)];
}
