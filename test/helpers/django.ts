import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whereIs } from './needs.ts';
import { freePort, type Cluster } from './postgres.ts';

/** A licensing backend of Django REST framework on gunicorn and PostgreSQL (test/django/README.md). */
export interface Backend {
  readonly baseUrl: string;
  readonly appCode: number;
  readonly token: string;
  /** Every license of the database, in the order of its creation. */
  licenses(): Promise<readonly { readonly remote_user: string; readonly size_allowance: number }[]>;
  stop(): Promise<void>;
}

const packages = ['django==5.2.19', 'djangorestframework==3.18.3', 'django-filter==26.2', 'gunicorn==27.0.1'];
const environment = resolve('node_modules/.cache/django');

/** Installs the packages from PyPI, once in this clone. */
export function installDjango(): void {
  const done = join(environment, 'installed');
  const wanted = packages.join('\n');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return;
  rmSync(environment, { recursive: true, force: true });
  execFileSync(whereIs('django') ?? 'python3', ['-m', 'venv', environment]);
  execFileSync(join(environment, 'bin/pip'), ['install', '--quiet', ...packages, 'psycopg[binary]==3.3.9']);
  writeFileSync(done, wanted);
}

/** Starts a server with `variables` of test/django/README.md; whoever calls it stops it. */
export async function startDjango(cluster: Cluster, variables: Readonly<Record<string, string>>): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-django-'));
  cpSync('test/django/site', folder, { recursive: true });
  const migrations = join(folder, 'lic/migrations');
  mkdirSync(migrations);
  writeFileSync(join(migrations, '__init__.py'), '');
  const [port, name] = [await freePort(), `lic_${process.pid}_${(databases += 1)}`];
  await cluster.query(`CREATE DATABASE ${name}`);
  const settings = join(folder, 'settings.py');
  writeFileSync(settings, readFileSync(settings, 'utf8').replace("'NAME':'lic'", `'NAME':'${name}'`));
  const env = {
    ...{
      PATH: process.env['PATH'],
      DJANGO_SETTINGS_MODULE: 'settings',
      PYTHONPATH: folder,
      DRF_CACHE: join(folder, 'cache'),
    },
    ...{ DRF_PG_HOST: cluster.socket, DRF_PG_PORT: String(cluster.port), DRF_PG_USER: 'tester' },
    ...variables,
  };
  const python = join(environment, 'bin/python');
  for (const line of ['makemigrations lic', 'migrate'])
    execFileSync(python, ['-m', 'django', ...line.split(' ')], { cwd: folder, env, stdio: 'ignore' });
  const [appCode, token] = [4711, 'token-of-4711'];
  await cluster.query('INSERT INTO lic_application (code, token) VALUES ($1, $2)', [appCode, token], name);
  const log = openSync(join(folder, 'log'), 'w');
  const words = ['-m', 'gunicorn', '-w', '3', '-b', `127.0.0.1:${port}`, '--graceful-timeout', '1', 'wsgi:application'];
  const server = spawn(python, words, { cwd: folder, env, stdio: ['ignore', log, log] });
  const ended = once(server, 'exit');
  const baseUrl = `http://127.0.0.1:${port}`;
  await answering(`${baseUrl}/v1/license/`, () => readFileSync(join(folder, 'log'), 'utf8'));
  return {
    ...{ baseUrl, appCode, token },
    licenses: async () =>
      (await cluster.query('SELECT remote_user, size_allowance FROM lic_license ORDER BY id', [], name)) as readonly {
        readonly remote_user: string;
        readonly size_allowance: number;
      }[],
    async stop() {
      server.kill('SIGTERM');
      await ended;
      await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let databases = 0;

async function answering(url: string, log: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`gunicorn does not answer: ${log()}`);
}
