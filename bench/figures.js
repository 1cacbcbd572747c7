// The figures of README in one table, each against a yardstick of the same run, since machines and their load differ:
// `npm run bench` for all of them, `npm run bench -- start-up apply` for some. A figure past its limit is exit code 1.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csvOf } from './licenses.js';
import { bareEnvironment, cpuTimesOf, median, peakOf, timesOf } from './measure.js';
import { hasPostgres, madeLongAgo, startPostgres } from './postgres.js';
import { endAtExit, program, serve, temporaryFolder } from './sandbox.js';

/** @typedef {{ name: string, value: string, ratio?: number, limit?: number }} Row `limit`: of the ratio */

const runs = Number(process.env['RUNS'] ?? 5);
const home = temporaryFolder('bench');
const bare = bareEnvironment(home);
const fetchAll = ['messages', 'fetch', '--channel', 'general', '--topic', 'load', '--all', '-o', 'ndjson'];

/**
 * Each figure, and what it is measured against. @type {Readonly<Record<string, { yardstick: string, measure: () =>
 * Promise<Row[]> }>>}
 */
const figures = {
  'start-up': { yardstick: 'node -e 0', measure: startUp },
  fetch: { yardstick: 'one curl of the same pages', measure: fetchTimes },
  count: { yardstick: 'messages fetch --all', measure: countTimes },
  memory: { yardstick: 'its limit', measure: memory },
  apply: { yardstick: 'xargs -P 16 curl', measure: applyTimes },
  ledger: { yardstick: 'without a ledger', measure: ledgerTimes },
  share: { yardstick: 'one machine', measure: shareTimes },
  scale: { yardstick: 'docs/scale.md', measure: scale },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(figures);
console.log(`Node ${process.versions.node}, medians of ${runs} interleaved runs`);
for (const name of names) {
  const figure = figures[name];
  if (!figure) throw new Error(`no figure ${name}; there are ${Object.keys(figures).join(', ')}`);
  for (const row of await figure.measure()) print(row, figure.yardstick);
}

/** @param {Row} row @param {string} yardstick */
function print({ name, value, ratio, limit }, yardstick) {
  const isPast = ratio !== undefined && limit !== undefined && ratio > limit;
  if (isPast) process.exitCode = 1;
  const times = ratio === undefined ? '' : `${ratio.toFixed(2).padStart(6)} × ${yardstick}`;
  const bound = limit === undefined ? '' : `, ${isPast ? 'PAST' : 'within'} ${limit}`;
  console.log(`${name.padEnd(44)} ${value.padStart(14)} ${times}${bound}`);
}

/**
 * The first row of `commands` is the yardstick. @param {Parameters<typeof timesOf>[0]} commands @param {readonly
 * (number | undefined)[]} limits
 */
async function compared(commands, limits) {
  return rowsOf(commands, await timesOf(commands, runs), limits, 'time');
}

/**
 * The same by the time of processors, which other programs change less. @param {Parameters<typeof timesOf>[0]} commands
 * @param {readonly (number | undefined)[]} limits
 */
function comparedByCpu(commands, limits) {
  return rowsOf(commands, cpuTimesOf(commands, Math.min(runs, 3)), limits, 'CPU');
}

/**
 * @param {readonly { name: string }[]} commands
 * @param {readonly (readonly number[])[]} times
 * @param {readonly (number | undefined)[]} limits
 * @param {'time' | 'CPU'} unit
 */
function rowsOf(commands, times, limits, unit) {
  const medians = times.map(median);
  return commands.map(({ name }, index) => {
    const [took, limit] = [medians[index] ?? NaN, limits[index]];
    const value = `${took < 2000 ? `${took.toFixed(0)} ms` : `${(took / 1000).toFixed(2)} s`} ${unit}`;
    return { name, value, ratio: took / (medians[0] ?? NaN), ...(limit === undefined ? {} : { limit }) };
  });
}

async function startUp() {
  const { credential, stop } = await serve(bare);
  const env = { ...bare, ...credential };
  const first = join(home, 'first');
  const node = (/** @type {string[]} */ ...args) => [process.execPath, ...args];
  const rows = await compared(
    [
      { name: 'node -e 0', command: node('-e', '0'), env },
      { name: 'chatelaine --version', command: node(program, '--version'), env },
      { name: 'chatelaine --help', command: node(program, '--help'), env },
      { name: 'TAB', command: node(program, '__complete', 'fish', 'license', 'create', '--'), env },
      { name: 'license list, one request', command: node(program, 'license', 'list'), env },
      {
        name: 'the same, first run ever',
        command: node(program, 'license', 'list'),
        env: { ...env, XDG_CACHE_HOME: first },
        before: async () => rmSync(first, { recursive: true, force: true }),
      },
    ],
    [undefined, 1.12, 1.15, undefined, 2.4, 3.8],
  );
  stop();
  return rows;
}

async function fetchTimes() {
  const messages = Number(process.env['MESSAGES'] ?? 200_000);
  const { site, stop } = await servePages(messages);
  const pages = Array.from({ length: Math.ceil(messages / 1000) }, (_, page) => {
    const anchor = page === 0 ? 'oldest' : String(10_000_000 + page * 1000);
    return `url = "${site}/api/v1/messages?num_before=0&num_after=1000&anchor=${anchor}"\noutput = "/dev/null"\n`;
  });
  writeFileSync(join(home, 'pages'), pages.join(''));
  const commands = [
    { name: `${messages} messages by curl`, command: ['curl', '-s', '-K', join(home, 'pages')], env: bare },
    { name: 'messages fetch --all', command: [process.execPath, program, ...fetchAll], env: accountOn(site) },
  ];
  const rows = [...(await compared(commands, [undefined, 14])), ...comparedByCpu(commands, [undefined, 38])];
  stop();
  return rows;
}

/** Of processors and not of the clock: a count waits for the same pages. */
async function countTimes() {
  const messages = Number(process.env['MOST_MESSAGES'] ?? 1_000_000);
  const { site, stop } = await servePages(messages);
  const all = fetchAll.slice(0, -2);
  const ways = [['-o', 'ndjson'], ...['timestamp:day', 'sender_full_name'].map((by) => ['--count-by', by])];
  const commands = ways.map((way) => ({
    name: `${messages} messages, ${way.join(' ')}`,
    command: [process.execPath, program, ...all, ...way],
    env: accountOn(site),
  }));
  const rows = comparedByCpu(commands, [undefined, 1.3, 1.3]);
  stop();
  return rows;
}

async function memory() {
  const messages = Number(process.env['MOST_MESSAGES'] ?? 1_000_000);
  const rows = Number(process.env['MOST_ROWS'] ?? 100_000);
  const pages = await servePages(messages);
  const fetching = await peakWhile(fetchAll, accountOn(pages.site));
  const auditing = await peakWhile(['license', 'audit', '-q'], keyOn(pages.site));
  pages.stop();
  const empty = await servePages(0);
  const args = ['license', 'apply', rosterOf(rows), '-q', '-o', 'ndjson', '--concurrency', '16'];
  const applying = await peakWhile(args, keyOn(empty.site));
  empty.stop();
  return [
    {
      name: `messages fetch of ${messages}, peak`,
      value: `${(fetching / 1000).toFixed(0)} MB`,
      ratio: fetching / 140_000,
      limit: 1,
    },
    {
      name: `license audit of ${messages}, peak`,
      value: `${(auditing / 1000).toFixed(0)} MB`,
      ratio: auditing / 400_000,
      limit: 1,
    },
    {
      name: `license apply of ${rows} rows, peak`,
      value: `${(applying / 1024).toFixed(0)} MiB`,
      ratio: applying / 1024 / 270,
      limit: 1,
    },
  ];
}

async function applyTimes() {
  const count = Number(process.env['ROWS'] ?? 2000);
  const roster = rosterOf(count);
  const bodies = join(home, 'bodies');
  writeFileSync(
    bodies,
    wantedRows(count)
      .map((row) => `${JSON.stringify({ ...row, app_code: 4711 })}\0`)
      .join(''),
  );
  const post = 'curl -sS -o /dev/null -X POST -H "$AUTHORIZATION" -H "content-type: application/json" "$URL" -d';
  const apply = [process.execPath, program, 'license', 'apply', roster, '-q'];
  /** A server of its own for each run, @param {boolean} isSecond */
  const onNewServer = (isSecond) => {
    /** @type {Record<string, string | undefined>} */
    const env = { ...bare };
    let stop = () => {};
    return {
      env,
      before: async () => {
        const server = await serve(bare);
        stop = server.stop;
        const { CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: key } = server.credential;
        Object.assign(env, server.credential, {
          URL: `${base}/v1/license/`,
          AUTHORIZATION: `authorization: Token ${key}`,
        });
        if (isSecond) succeed(apply, env);
      },
      after: () => stop(),
    };
  };
  return compared(
    [
      {
        name: `${count} licenses by xargs -P 16 curl`,
        command: ['sh', '-c', `xargs -0 -P 16 -I BODY ${post} BODY < ${bodies}`],
        ...onNewServer(false),
      },
      { name: 'license apply', command: apply, ...onNewServer(false) },
      { name: 'license apply --concurrency 1', command: [...apply, '--concurrency', '1'], ...onNewServer(false) },
      { name: 'license apply, nothing to change', command: apply, ...onNewServer(true) },
    ],
    [undefined, 0.4],
  );
}

async function ledgerTimes() {
  if (!hasPostgres) return [{ name: 'the ledger', value: 'skipped: PostgreSQL is not installed' }];
  const database = await startPostgres({ durable: true });
  const ledger = { CHATELAINE_LEDGER: database.url };
  succeed([process.execPath, program, 'ledger', 'init'], { ...bare, ...ledger });
  database.query(madeLongAgo);
  const count = Number(process.env['ROWS'] ?? 2000);
  const apply = [process.execPath, program, 'license', 'apply', rosterOf(count), '-q'];
  const way = (/** @type {string} */ name, /** @type {Record<string, string>} */ extra) => {
    /** @type {Record<string, string | undefined>} */
    const env = { ...bare, ...extra };
    let stop = () => {};
    const before = async () => {
      // What the ledger remembers of another server would make a run wait.
      database.query('TRUNCATE chatelaine.line, chatelaine.run, chatelaine.event');
      const server = await serve(bare);
      stop = server.stop;
      Object.assign(env, server.credential);
    };
    return { name, command: apply, env, before, after: () => stop() };
  };
  const rows = await compared([way('license apply', {}), way('license apply with a ledger', ledger)], [undefined, 1.3]);
  const bytes = Number(
    database.query("SELECT pg_total_relation_size('chatelaine.line') + pg_total_relation_size('chatelaine.event')"),
  );
  await database.stop();
  return [...rows, { name: 'the ledger for each user', value: `${(bytes / count).toFixed(0)} bytes` }];
}

/**
 * One roster on one machine and on three at once, each with a home of its own; the server and its latency are a process
 * of their own.
 */
async function shareTimes() {
  if (!hasPostgres) return [{ name: 'sharing', value: 'skipped: PostgreSQL is not installed' }];
  const roster = rosterOf(Number(process.env['ROWS'] ?? 2000));
  /** @type {Record<number, number[]>} */
  const times = { 1: [], 3: [] };
  for (let run = 0; run < Math.min(runs, 3); run += 1)
    for (const machines of [1, 3]) {
      const place = temporaryFolder('share');
      const database = await startPostgres({ durable: true });
      const { credential, stop } = await serve(bare, ['--latency', '50ms']);
      const env = { ...credential, CHATELAINE_LEDGER: database.url };
      succeed([process.execPath, program, 'ledger', 'init'], { ...bare, ...env });
      database.query(madeLongAgo);
      const began = performance.now();
      const started = Array.from({ length: machines }, (_, index) =>
        spawn(process.execPath, [program, 'license', 'apply', roster, '-q', '--yes'], {
          env: { ...bareEnvironment(join(place, `machine-${index}`)), ...env },
          stdio: 'ignore',
        }),
      );
      const codes = await Promise.all(started.map(async (child) => (await once(child, 'exit'))[0]));
      if (codes.some((code) => code !== 0)) throw new Error(`apply on ${machines} machines ended with ${codes.join()}`);
      times[machines]?.push(performance.now() - began);
      stop();
      await database.stop();
    }
  const [one, three] = [median(times[1] ?? []), median(times[3] ?? [])];
  const row = (/** @type {string} */ name, /** @type {number} */ took) => ({
    name,
    value: `${(took / 1000).toFixed(2)} s time`,
    ratio: took / one,
  });
  return [row('license apply on one machine', one), { ...row('on three that share a ledger', three), limit: 0.5 }];
}

/** What docs/scale.md computes with, beside the ledger. */
async function scale() {
  const count = Number(process.env['MOST_ROWS'] ?? 100_000);
  const listed = await serve(bare, ['--page-size', '1000', '--list-shape', 'next']);
  const list = [process.execPath, program, 'license', 'list', '--limit', String(2 * count), '-o', 'ndjson'];
  const make = [process.execPath, program, 'license', 'apply', rosterOf(count), '-q', '--concurrency', '16'];
  succeed(make, { ...bare, ...listed.credential });
  const seconds = succeed(list, { ...bare, ...listed.credential });
  listed.stop();
  const rows = [{ name: `license list of ${count}`, value: `${(count / seconds).toFixed(0)}/s` }];
  for (const concurrency of ['4', '16']) {
    const { credential, stop } = await serve(bare, ['--latency', '50ms']);
    const apply = [process.execPath, program, 'license', 'apply', rosterOf(2000), '-q', '--concurrency', concurrency];
    const took = succeed(apply, { ...bare, ...credential });
    stop();
    rows.push({
      name: `license apply, latency 50 ms, concurrency ${concurrency}`,
      value: `${(2000 / took).toFixed(0)}/s`,
    });
  }
  return rows;
}

/** @param {number} count */
async function servePages(count) {
  const script = fileURLToPath(new URL('pages.js', import.meta.url));
  const server = spawn(process.execPath, [script, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  endAtExit(server);
  const [line] = await once(server.stdout, 'data');
  return { site: String(line).trim(), stop: () => server.kill() };
}

/** @param {string} site */
function keyOn(site) {
  const key = { CHATELAINE_API_KEY: 'x'.repeat(32), CHATELAINE_APP_CODE: '4711' };
  return { ...bare, CHATELAINE_BASE_URL: site, ...key };
}

/** @param {string} site */
function accountOn(site) {
  const account = { CHATELAINE_CHAT_EMAIL: 'ada@example.com', CHATELAINE_CHAT_API_KEY: 'x'.repeat(32) };
  return { ...bare, CHATELAINE_CHAT_SITE: site, ...account };
}

/** @param {number} count */
function wantedRows(count) {
  return Array.from({ length: count }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));
}

/** @param {number} count */
function rosterOf(count) {
  const file = join(home, `${count}.csv`);
  writeFileSync(file, csvOf(wantedRows(count)));
  return file;
}

/**
 * Runs a command that has to succeed; the seconds that it took. @param {readonly string[]} command @param
 * {Record<string, string | undefined>} env
 */
function succeed([file = '', ...args], env) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${String(stderr)}`);
  return (performance.now() - begun) / 1000;
}

/** KiB. @param {readonly string[]} args @param {Record<string, string | undefined>} env */
async function peakWhile(args, env) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 20);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}`);
  return peak;
}
