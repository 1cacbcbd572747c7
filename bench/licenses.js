// What the torture of `license apply` shares: a roster, runs of the program, and what the server holds in the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { program } from './sandbox.js';

/** @typedef {{ remote_user: string, size_allowance: number }} Wanted */
/** @typedef {Wanted & { license_code: string, app_code: number }} License */
/** @typedef {Wanted & { status: string, license: License | null, error: string | null }} Row */
/** @typedef {{ code: number | null, signal: string | null, rows: Row[], stderr: string }} Ran */

/** @param {readonly Wanted[]} rows */
export function csvOf(rows) {
  return ['remote_user,size_allowance', ...rows.map((row) => `${row.remote_user},${row.size_allowance}`), ''].join(
    '\n',
  );
}

/**
 * Runs a command line to its end, or kills it after that many milliseconds.
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 * @param {number} [killAfter]
 * @returns {Promise<Ran>}
 */
export async function run(args, env, killAfter) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const ended = once(child, 'close');
  if (killAfter !== undefined) {
    const timer = new AbortController();
    const first = await Promise.race([ended, sleep(killAfter, 'late', { signal: timer.signal })]);
    timer.abort();
    if (first === 'late') child.kill('SIGKILL');
  }
  const [code, signal] = await ended;
  const [stdout, stderr] = await output;
  return { code, signal, rows: rowsIn(stdout), stderr };
}

/** @param {AsyncIterable<Buffer>} stream */
async function textOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Whole lines of ndjson; the last may be cut by a kill.
 * @param {string} stdout
 * @returns {Row[]}
 */
function rowsIn(stdout) {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

/**
 * Everything that the server holds for the application.
 * @param {Record<string, string>} credential
 * @returns {Promise<License[]>}
 */
export async function licensesOn({ CHATELAINE_BASE_URL, CHATELAINE_API_KEY }) {
  const answer = await fetch(`${CHATELAINE_BASE_URL}/v1/license/`, {
    headers: { authorization: `Token ${CHATELAINE_API_KEY}` },
  });
  return /** @type {Promise<License[]>} */ (answer.json());
}

/**
 * What is wrong with the licenses of these users; nothing where each has one of its size.
 * @param {readonly Wanted[]} rows
 * @param {readonly License[]} licenses
 * @returns {{ doubled: string[], missing: string[], sized: string[] }}
 */
export function faultsOf(rows, licenses) {
  const held = groups(licenses);
  /** @type {{ doubled: string[], missing: string[], sized: string[] }} */
  const faults = { doubled: [], missing: [], sized: [] };
  for (const { remote_user, size_allowance } of rows) {
    const own = held.get(remote_user) ?? [];
    if (own.length > 1) faults.doubled.push(remote_user);
    if (own.length === 0) faults.missing.push(remote_user);
    if (own.length === 1 && own[0]?.size_allowance !== size_allowance) faults.sized.push(remote_user);
  }
  return faults;
}

/**
 * @param {readonly License[]} licenses
 * @returns {Map<string, License[]>}
 */
function groups(licenses) {
  const held = new Map();
  for (const license of licenses) held.set(license.remote_user, [...(held.get(license.remote_user) ?? []), license]);
  return held;
}

/**
 * What a run that ended by itself said and was not so: rows against the server's licenses, and the exit code against
 * the rows.
 * @param {Ran} ran
 * @param {readonly Wanted[]} wanted
 * @param {readonly License[]} licenses
 * @returns {string[]}
 */
export function liesIn({ code, rows, stderr }, wanted, licenses) {
  const lies = [];
  const held = groups(licenses);
  const reported = new Set(rows.map((row) => row.remote_user));
  if (reported.size !== rows.length) lies.push('a row is reported twice');
  for (const { remote_user, size_allowance, status, license, error } of rows) {
    const own = held.get(remote_user) ?? [];
    if (['created', 'resized', 'unchanged'].includes(status)) {
      if (own[0]?.size_allowance !== size_allowance)
        lies.push(`${remote_user} is ${status}, and the server has another`);
      if (license?.license_code !== own[0]?.license_code) lies.push(`${remote_user} is reported with another key`);
    } else if (!error) lies.push(`${remote_user} is ${status} without a reason`);
  }
  const has = (/** @type {string} */ status) => rows.some((row) => row.status === status);
  const left = wanted.length - rows.length;
  const right = has('unknown') ? [9] : has('failed') || (left > 0 && rows.length > 0) ? [8] : left > 0 ? [7, 8] : [0];
  if (code === null || !right.includes(code))
    lies.push(`exit code ${code}, and the rows mean ${right.join(' or ')}: ${stderr.slice(-400)}`);
  return lies;
}

/**
 * Numbers from 0 up to 1, the same for the same seed.
 * @param {number} seed
 */
export function chances(seed) {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state / 4_294_967_296;
  };
}
