import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manualPages } from '../../scripts/manual/pages.ts';
import type { Block } from '../../scripts/manual/roff.ts';
import { parseLedgerUrl } from '../../src/schema/ledger-url.ts';
import { serverOf } from '../../src/schema/url.ts';
import { ledgerScript } from '../../src/store/ledger/ledger-sql.ts';
import { sampleOf } from '../helpers/extent.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../helpers/postgres.ts';
import { needs, whereIs } from '../helpers/needs.ts';
import { openService, shell, temporaryHome } from './program.ts';

/**
 * What the pages say to type, besides the examples of commands (test/examples.test.ts): bash runs it against a sandbox.
 */

const pages = await manualPages();
const blocks = pages.flatMap(({ name, chapters }) =>
  chapters.flatMap(({ title, blocks }) => blocks.map((block) => ({ place: `${name}, ${title}`, block }))),
);

/** The server of the recipes for a ledger. */
let cluster: Cluster | undefined;

beforeAll(async () => {
  if (whereIs('postgresql') !== undefined) cluster = await startPostgres();
});

afterAll(() => cluster?.stop());

/** Scripts of a page, each once: some chapters are on several pages. */
const scripts = new Map(
  blocks.flatMap(({ place, block }) =>
    scriptsIn(block).map((script) => [script, `${place}: ${script.split('\n')[0] ?? ''}`]),
  ),
);

/** What is typed on a terminal, where test/commands/settings/set.test.ts has it. */
const interactive = ['chatelaine settings set old_password new_password'];

for (const [script, place] of sampleOf(Math.ceil(scripts.size / 10), [...scripts])) {
  const needsLedger = script.includes('CHATELAINE_LEDGER=');
  test(place, needsLedger ? needs('shell', 'postgresql') : needs('shell'), async () => {
    if (interactive.includes(script)) {
      expect(readFileSync('test/commands/settings/set.test.ts', 'utf8')).toContain(
        'settings set old_password new_password',
      );
      return;
    }
    if (needsLedger) await prepareLedger(script);
    const { sandbox, env } = await openService();
    const home = furnished(env);
    // The user that pages speak of has a license.
    sandbox.state.change(({ licenses }) => {
      const [app] = sandbox.licensing.apps;
      const ada = { remote_user: 'ada', app_code: app.app_code, size_allowance: 4, created: '2026-03-01T12:00:00Z' };
      licenses.put('K-ada', { license_code: 'K-ada', ...ada });
    });
    // The program of the home, which a signal to $! reaches.
    const text = `unset -f chatelaine; set -e\n${placed(script, env, home)}`;
    const { code, stderr } = await shell(text, {
      home,
      env: { ...env, ...onCluster(), PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
      stdin: standardInput,
    }).ended;
    const errors = stderr.split('\n').filter((line) => line.startsWith('chatelaine: ') && !line.endsWith('SIGTERM'));
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
  });
}

/** A recipe with other words, in a home of its own where `mail` keeps what it is given. */
async function ranRecipe(opening: string, changes: readonly (readonly [string, string])[] = []) {
  const recipe = [...scripts.keys()].find((script) => script.includes(opening)) ?? '';
  const { sandbox, env } = await openService();
  const home = furnished(env);
  writeFileSync(join(home, 'bin', 'mail'), '#!/bin/sh\nprintf "%s\\n" "$*" > "$HOME/mailed"; cat >> "$HOME/mailed"\n', {
    mode: 0o755,
  });
  const text = changes.reduce((all, [from, to]) => all.replaceAll(from, to), recipe);
  const done = await shell(`unset -f chatelaine; set -e\n${text}`, {
    home,
    env: { ...env, PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
  }).ended;
  return { ...done, home, sandbox };
}

test('the recipe of retention deletes what is old, and nothing of the two channels', needs('shell'), async () => {
  const { code, stderr, home, sandbox } = await ranRecipe('--not-channel releases', [['2y', '2026-02-20']]);

  expect({ code, stderr }).toMatchObject({ code: 0 });
  const border = Date.parse('2026-02-20T00:00:00') / 1000;
  const left = sandbox.state.messages().filter(({ stream_id }) => stream_id !== undefined);
  const spared = new Set([3, 4, 5, 6]);
  const newest = new Map(left.map((row) => [`${row.stream_id} ${row.subject.toLowerCase()}`, row.timestamp]));
  for (const row of left) newest.set(`${row.stream_id} ${row.subject.toLowerCase()}`, row.timestamp);
  const old = [...newest].filter(([key, time]) => time < border && !spared.has(Number(key.split(' ')[0])));
  expect(old).toEqual([]);
  expect(left.filter(({ stream_id }) => stream_id === 3 || stream_id === 5).length).toBeGreaterThan(5);
  const topics = readFileSync(join(home, 'old.ndjson'), 'utf8').trimEnd().split('\n').length;
  expect(topics).toBeGreaterThan(3);
  expect(readdirSync(join(home, 'purged'))).toHaveLength(topics);
});

test('the recipe of a key masks it first, and gives it to others on standard input alone', needs('shell'), async () => {
  const { code, stdout, home } = await ranRecipe('add-mask');

  expect(code).toBe(0);
  const [mask = ''] = stdout.split('\n');
  const key = mask.replace('::add-mask::', '');
  expect(key).toMatch(licenseKey);
  expect(stdout).toBe(`${mask}\n`);
  expect(readFileSync(join(home, 'given'), 'utf8')).toBe(`${key}\n`.repeat(3));
  expect(readFileSync(join(home, 'words'), 'utf8')).toMatch(/^secret set [^]*^create secret [^]*^kv put /m);
  expect(readFileSync(join(home, 'words'), 'utf8')).not.toContain(key);
});

const keyCommands = [...readFileSync('man/chapters.md', 'utf8').matchAll(/`--key-command '(.+)'`/g)].map(
  ([, text = '']) => text,
);

test.each(sampleOf(1, keyCommands))(
  'auth login keeps the key command %s of the manual, and uses it',
  needs('shell'),
  async (text) => {
    const { env } = await openService();
    const home = furnished(env);
    const login = 'chatelaine auth login licensing --base-url https://licenses.example.com --app-code 7 --name vault';
    const script = placed(`${login} --key-command '${text}'; chatelaine license list --profile vault -q`, env, home);

    const { code, stderr } = await shell(`unset -f chatelaine; set -e\n${script}`, {
      home,
      env: { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
    }).ended;

    expect({ code, stderr }).toMatchObject({ code: 0 });
  },
);

test('recipes run a command that writes, one at a time where the CI can keep it so', () => {
  const text = blocks.flatMap(({ block }) => ('workflow' in block ? [block.lines.join('\n')] : [])).join('\n');
  expect(text).toMatch(/^concurrency: licenses$/m);
  expect(text).toMatch(/^ {2}resource_group: licenses$/m);
});

test('recipes take the actions that our own workflows take, by their hash', () => {
  const own = ['test', 'release'].map((name) => readFileSync(`.github/workflows/${name}.yml`, 'utf8')).join('\n');
  const used = blocks.flatMap(({ block }) =>
    'workflow' in block ? block.lines.flatMap((line) => /uses: .*/.exec(line) ?? []) : [],
  );
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((line) => !/@[\da-f]{40} # v/.test(line) || !own.includes(line))).toEqual([]);
});

const workflows = blocks.flatMap(({ place, block }) =>
  'workflow' in block && block.workflow !== 'cron'
    ? jobsOf(block).map((job) => ({ ...job, place: `${place}, ${block.workflow}: ${job.name}` }))
    : [],
);

test.each(workflows)('$place: its database is one that outlives the job', ({ env, script }) => {
  expect(script.some((line) => /\bchatelaine /.test(line))).toBe(true);
  const url = env['CHATELAINE_LEDGER'];
  if (url !== undefined) expect(parseLedgerUrl(url)).toMatchObject({ host: 'db.example.com', user: 'runner' });
});

for (const { place, script, env: own } of sampleOf(Math.ceil(workflows.length / 10), workflows)) {
  const needsLedger = own['CHATELAINE_LEDGER'] !== undefined;
  test(`${place}: sh -e runs its script`, needsLedger ? needs('shell', 'postgresql') : needs('shell'), async () => {
    const { env } = await openService();
    const home = furnished(env);
    if (needsLedger) await prepareLedger(script.join('\n'));
    const values = Object.entries(own).map(([name, text]) => [name, placed(secretsIn(text, env), env, home)] as const);
    const text = placed(script.join('\n'), env, home);
    writeFileSync(join(home, 'script.sh'), `${text}\n`);
    const { code, stdout, stderr } = await shell('exec sh -e script.sh', {
      home,
      env: { ...env, ...Object.fromEntries(values), PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
    }).ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    // The log of a job is read by many.
    expect(`${stdout}${stderr}`).not.toMatch(licenseKey);
    if (!isSilent(script)) expect(stdout).not.toBe('');
  });
}

const planJobs = workflows.filter(({ script }) => script.some((line) => line.includes('plan.md')));

test.each(planJobs)('$place: of a roster with mistakes the comment names them', needs('shell'), async (job) => {
  const { env } = await openService();
  const home = furnished(env);
  for (const program of ['gh', 'curl']) writeFileSync(join(home, 'bin', program), '#!/bin/sh\ncp plan.md comment.md\n');
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nada,44\nphysio-7731,x\n');
  writeFileSync(join(home, 'script.sh'), `${job.script.join('\n')}\n`);

  const { code } = await shell('exec sh -e script.sh', {
    home,
    env: { ...env, PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
  }).ended;

  expect(code).toBe(2);
  expect(readFileSync(join(home, 'comment.md'), 'utf8')).toMatch(/^ {4}.*roster\.csv:2: [^]*^ {4}.*roster\.csv:3: /m);
});

const licenseKey = /\b[\dA-F]{5}(?:-[\dA-F]{5}){3}\b/;

/** Of a run whose result is a file nothing is printed. */
function isSilent(script: readonly string[]): boolean {
  return script.every((line) => /> (plan\.md|result\.json)$|^gh |^curl |topic delete/m.test(line));
}

/** One job of a workflow: what GitHub and GitLab call differently. */
interface WorkflowJob {
  readonly name: string;
  readonly script: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface GithubJob {
  readonly 'runs-on': string;
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

interface GitlabJob {
  readonly variables: Readonly<Record<string, string>>;
  readonly script: readonly string[];
}

function jobsOf(block: Extract<Block, { readonly workflow: string }>): WorkflowJob[] {
  const parsed: unknown = parse(block.lines.join('\n'));
  if (block.workflow === 'github') {
    const { jobs } = parsed as { readonly jobs: Readonly<Record<string, GithubJob>> };
    return Object.entries(jobs).map(([name, job]) => {
      expect(job['runs-on']).toBe('ubuntu-latest');
      return { name, script: job.steps.flatMap(({ run }) => run ?? []), env: job.env };
    });
  }
  const jobs = parsed as Readonly<Record<string, GitlabJob>>;
  return Object.entries(jobs).map(([name, { script, variables }]) => ({ name, script, env: variables }));
}

/** Secrets of a CI, as it would fill them in. */
function secretsIn(text: string, env: Readonly<Record<string, string>>): string {
  return text
    .replaceAll('${{ secrets.LICENSING_KEY }}', env['CHATELAINE_API_KEY'] ?? '')
    .replace(/^\$\{\{.*$/, 'secret');
}

/** What a recipe begins with: an empty server where it creates a ledger, one that is set up where it uses it. */
async function prepareLedger(script: string): Promise<void> {
  if (!cluster) return;
  await cluster.query('DROP SCHEMA IF EXISTS chatelaine CASCADE');
  await cluster.query('DROP DATABASE IF EXISTS ledger');
  await cluster.query('DROP ROLE IF EXISTS runner');
  if (script.includes('ledger init')) return;
  await cluster.query('CREATE ROLE runner LOGIN');
  await cluster.query('CREATE DATABASE ledger');
  await cluster.query(
    `${ledgerScript}${madeLongAgo}GRANT USAGE ON SCHEMA chatelaine TO runner; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA chatelaine TO runner`,
    [],
    'ledger',
  );
}

/**
 * The commands of a block, together as they share variables; a server, which would not end by itself, gets a second.
 */
function scriptsIn(block: Block): string[] {
  if ('commands' in block) {
    const serving = /^chatelaine sandbox serve [^&]*$/;
    return block.commands.every((line) => serving.test(line))
      ? block.commands.map(
          (line) => `timeout 1 ${line.replace(/^chatelaine/, 'bin/chatelaine')} && false || test $? -eq 124`,
        )
      : [block.commands.join('\n')];
  }
  if (!('workflow' in block) || block.workflow !== 'cron') return [];
  return block.lines.map((line) => line.split(' ').slice(5).join(' '));
}

const standardInput = 'old_password=sandbox-password-of-mara\nnew_password=another-long-passphrase\n';

/** The sandbox in place of the servers that a page speaks of, and a license that exists in place of CODE. */
function placed(script: string, env: Readonly<Record<string, string>>, home: string): string {
  return script
    .replaceAll('https://licenses.example.com', env['CHATELAINE_BASE_URL'] ?? '')
    .replaceAll('https://chat.example.com', env['CHATELAINE_CHAT_SITE'] ?? '')
    .replaceAll('ada@example.com', env['CHATELAINE_CHAT_EMAIL'] ?? '')
    .replaceAll('--app-code 7 ', `--app-code ${env['CHATELAINE_APP_CODE'] ?? ''} `)
    .replaceAll('/srv/roster.csv', join(home, 'roster.csv'))
    .replace(/postgres:\/\/(\w+)@[^/\s]*\/(\w+)/g, (_url, role: string, database: string) => ledgerAt(role, database))
    .replaceAll('postgres:///ledger?host=/run/postgresql', ledgerAt('tester', 'ledger'))
    .replace(/(?:--exit-code|license audit --roster .*(?:--quiet|-q))$/m, '$& && false || test $? -eq 10')
    .replaceAll('edit CODE', 'edit CD3AE-2B80E-1662B-2FCA2');
}

function ledgerAt(role: string, database: string): string {
  return `postgres://${role}@127.0.0.1:${cluster?.port ?? 0}/${database}`;
}

/** What createdb, createuser and psql find the server by. */
function onCluster(): Readonly<Record<string, string>> {
  return cluster
    ? { PGHOST: cluster.socket, PGPORT: String(cluster.port), PGUSER: 'tester', PGDATABASE: 'postgres' }
    : {};
}

/** A home with a roster, a profile, and the password managers that pages speak of. */
function furnished(env: Readonly<Record<string, string>>): string {
  const home = temporaryHome();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('chatelaine', `exec '${process.execPath}' '${resolve('bin/chatelaine.cjs')}' "$@"`);
  const key = env['CHATELAINE_API_KEY'] ?? '';
  program('secret-tool', `test "$1" = lookup && echo ${key}`);
  program('pass', `test "$1" = show && echo ${key}`);
  program('security', `test "$1" = find-generic-password && echo ${key}`);
  // They keep what they are given, as words and on standard input.
  const keeper = 'echo "$*" >> "$HOME/words"; cat >> "$HOME/given"; echo >> "$HOME/given"';
  for (const name of ['kubectl', 'vault']) program(name, keeper);
  program('gh', `test "$1" != secret && exec grep -q ada plan.md; ${keeper}`);
  program('curl', 'case "$*" in *PRIVATE-TOKEN*) grep -q ada plan.md;; *) exec /usr/bin/curl "$@";; esac');
  program('op', `test "$1" = read && echo ${key}`);
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nada,4\nphysio-7731,6\n');
  writeFileSync(join(home, 'sensors.csv'), 'mac_address\nD4:22:CD:00:03:01\nD4:22:CD:00:03:02\n');
  const server = serverOf(env['CHATELAINE_BASE_URL'] ?? '');
  const ada = { change: 'create', remote_user: 'ada', app_code: 4711, size_allowance: 4 };
  const plan = [{ license_plan: 1, rows: 1, targets: [{ app_code: 4711, server }] }, ada];
  writeFileSync(join(home, 'plan.ndjson'), plan.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const folder = join(home, '.config', 'chatelaine');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const url = env['CHATELAINE_BASE_URL'] ?? '';
  const prod = { kind: 'licensing', base_url: url, app_code: Number(env['CHATELAINE_APP_CODE']) };
  const entry = { origin: new URL(url).origin, api_key: key };
  const keep = (name: string, content: object): void =>
    writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 });
  keep('config.json', { version: 1, defaults: { licensing: 'prod' }, profiles: { prod } });
  keep('credentials.json', { version: 1, keys: { prod: entry } });
  return home;
}
