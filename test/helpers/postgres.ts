import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { whereIs } from './needs.ts';

/** A PostgreSQL server of its own, on a unix socket and on loopback, in a folder that goes with it. */
export interface Cluster {
  /** A ledger's URL over the unix socket. */
  readonly url: string;
  readonly port: number;
  readonly socket: string;
  query(text: string, values?: readonly unknown[], database?: string): Promise<readonly Record<string, unknown>[]>;
  /** From now on that role has to give its password over TCP. */
  requirePassword(role: string): Promise<void>;
  /** From now on that role has to use TLS over TCP. */
  requireTls(role: string): Promise<void>;
  /** Speaks TLS with this certificate. */
  useCertificate(certificate: { readonly key: string; readonly cert: string }): Promise<void>;
  /**
   * `kill`: all connections break, and nothing is written any more; `restart`: the server ends them; `promote`: it
   * comes back as a replica that takes over.
   */
  restart(how: 'kill' | 'restart' | 'promote'): Promise<void>;
  /** Reads a dump of the schema `chatelaine` into an empty database of that name. */
  restoreInto(database: string): Promise<void>;
  stop(): Promise<void>;
}

/** Makes a ledger one that was there for long: a new one counts as restored at the moment at which it was made. */
export const madeLongAgo = "UPDATE chatelaine.ledger SET restored = 'epoch';";

const bin = whereIs('postgresql');

/** Starts a server; whoever calls it stops it. */
export async function startPostgres(): Promise<Cluster> {
  if (bin === undefined) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-pg-'));
  const owner = ownerOf(folder);
  const data = join(folder, 'data');
  const run = (program: string, args: readonly string[]): void =>
    void execFileSync(join(bin, program), args, { ...owner, stdio: 'ignore', cwd: folder });
  copyCluster(data, () => {
    run('initdb', ['-D', data, '-U', 'tester', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']);
  });
  const port = await freePort();
  const args = ['-D', data, '-k', folder, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'];
  const begin = (): ChildProcess => spawn(join(bin, 'postgres'), args, { ...owner, stdio: 'ignore', cwd: folder });
  const query: Cluster['query'] = async (text, values = [], database = 'postgres') => {
    const client = new pg.Client({ host: folder, port, user: 'tester', database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const allow = async (lines: string): Promise<void> => {
    const file = join(data, 'pg_hba.conf');
    writeFileSync(file, `${lines}\n${readFileSync(file, 'utf8')}`);
    await query('SELECT pg_reload_conf()');
  };
  let server = await answering(begin, query);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  return {
    url: `postgres://tester@/postgres?host=${folder}&port=${port}`,
    port,
    socket: folder,
    query,
    requirePassword: (role) => allow(`host all ${role} all scram-sha-256`),
    requireTls: (role) => allow(`hostssl all ${role} all trust\nhost all ${role} all reject`),
    async useCertificate({ key, cert }) {
      for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
        writeFileSync(join(data, name), text, { mode: 0o600 });
        if (owner.uid !== undefined && owner.gid !== undefined) chownSync(join(data, name), owner.uid, owner.gid);
      }
      await query('ALTER SYSTEM SET ssl = on');
      await query('SELECT pg_reload_conf()');
    },
    async restart(how) {
      await end(how === 'kill' ? 'SIGKILL' : 'SIGINT');
      if (how === 'promote') writeFileSync(join(data, 'standby.signal'), '');
      server = await answering(begin, query);
      if (how === 'promote') await query('SELECT pg_promote()');
    },
    async restoreInto(database) {
      await query(`CREATE DATABASE ${database}`);
      const [place, file] = [['-h', folder, '-p', String(port), '-U', 'tester'], join(folder, `${database}.sql`)];
      run('pg_dump', [...place, '-n', 'chatelaine', '-f', file, 'postgres']);
      run('psql', [...place, '-v', 'ON_ERROR_STOP=1', '-f', file, database]);
    },
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A copy of the first cluster that was ever made in this clone: initdb takes 0.6 s of CPU time. */
function copyCluster(data: string, make: () => void): void {
  const kept = resolve('node_modules/.cache/postgresql', (bin ?? '').replaceAll(/\W/g, '-'));
  const copy = (from: string, to: string): unknown => execFileSync('cp', ['-a', from, to]);
  if (existsSync(kept)) {
    copy(kept, data);
    return;
  }
  make();
  const own = `${kept}.${process.pid}`;
  mkdirSync(dirname(kept), { recursive: true });
  copy(data, own);
  try {
    renameSync(own, kept);
  } catch {
    // Another process was first.
    rmSync(own, { recursive: true });
  }
}

/** A new server does not start before the processes of a killed one have noticed that it is gone. */
async function answering(begin: () => ChildProcess, query: Cluster['query']): Promise<ChildProcess> {
  let server = begin();
  for (let tries = 0; tries < 2000; tries += 1) {
    try {
      await query('SELECT 1');
      return server;
    } catch {
      await sleep(50);
      if (server.exitCode !== null || server.signalCode !== null) server = begin();
    }
  }
  server.kill('SIGQUIT');
  throw new Error('the PostgreSQL server does not answer');
}

/** PostgreSQL refuses to run as root: then it runs as its own user. */
function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  return { uid, gid };
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
