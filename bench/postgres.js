// A PostgreSQL server of its own for the benchmarks, on a unix socket: one that is installed, started in a temporary
// folder.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programs } from '../scripts/needs.js';
import { endAtExit, temporaryFolder } from './sandbox.js';

const bin = programs.postgresql.where();

/** Whether a server is installed here. */
export const hasPostgres = bin !== undefined;

/** A new ledger would let its first runs wait, since it may take the place of one that was dropped. */
export const madeLongAgo = "UPDATE chatelaine.ledger SET restored = 'epoch'";

/**
 * @param {{ durable?: boolean }} [options] `durable`: commits are synced to disk, as on a server that holds data
 * @returns {Promise<{ url: string, crash: () => Promise<void>, query: (sql: string) => string, stop: () =>
 * Promise<void> }>}
 */
export async function startPostgres({ durable = false } = {}) {
  if (bin === undefined) throw new Error('PostgreSQL is not installed');
  const folder = temporaryFolder('pg');
  const owner = ownerOf(folder);
  const data = join(folder, 'data');
  const quiet = { ...owner, cwd: folder, stdio: /** @type {const} */ ('ignore') };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '--no-sync', '--locale=C'], quiet);
  const sync = durable ? [] : ['-c', 'fsync=off'];
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=200', ...sync];
  const begin = () => {
    const server = spawn(join(bin, 'postgres'), args, quiet);
    endAtExit(server);
    return server;
  };
  /** @param {string} sql */
  const query = (sql) =>
    execFileSync(join(bin, 'psql'), ['-h', folder, '-U', 'tester', '-d', 'postgres', '-Atqc', sql], {
      ...owner,
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const answering = async () => {
    let server = begin();
    for (let tries = 0; tries < 200; tries += 1) {
      try {
        query('SELECT 1');
        return server;
      } catch {
        await sleep(50);
        // A new server does not start before the processes of a killed one have ended.
        if (server.exitCode !== null || server.signalCode !== null) server = begin();
      }
    }
    throw new Error('the PostgreSQL server does not answer');
  };
  let server = await answering();
  /** @param {NodeJS.Signals} signal */
  const end = async (signal) => {
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  return {
    url: `postgres://tester@/postgres?host=${folder}`,
    query,
    async crash() {
      await end('SIGKILL');
      server = await answering();
    },
    stop: () => end('SIGQUIT'),
  };
}

/** PostgreSQL refuses to run as root: then it runs as its own user. @param {string} folder */
function ownerOf(folder) {
  if (process.getuid?.() !== 0) return {};
  const idOf = (/** @type {string} */ option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  return { uid, gid };
}
