import { userInfo } from 'node:os';
import { Failure } from '../../core/failure.ts';
import { isLoopback } from '../../schema/url.ts';
import { Secret } from '../../core/secret.ts';
import { variable, type System } from '../../core/system.ts';
import { exists } from '../disk/files.ts';
import { libpqFile } from '../disk/folders.ts';
import { readPrivate } from '../disk/private.ts';
import { parseLedgerUrl } from '../../schema/ledger-url.ts';

/** How the certificate of the database server is verified; `none`: no TLS. */
type LedgerTls = 'none' | 'encrypt' | 'verify-ca' | 'verify-full';

/** Where a ledger is, with everything that connecting needs. */
export interface LedgerAddress {
  /** A name, an address, or the folder of a unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Undefined where none is known; the server may not ask for one. */
  readonly password: Secret | undefined;
  readonly tls: LedgerTls;
  /** A file of certificates to trust besides the usual ones. */
  readonly rootCertificates: string | undefined;
  /** The file of NODE_EXTRA_CA_CERTS: among the usual ones, but Node leaves it out where others are given. */
  readonly extraCertificates: string | undefined;
  /** The address in words: `db.example.com/ledger`. */
  readonly name: string;
}

/** Completes a ledger's URL as libpq does (docs/exactly-once.md, The shared ledger). @throws Failure usage, config */
export async function ledgerAddress(url: string, system: System): Promise<LedgerAddress> {
  const { env } = system;
  const values = parseLedgerUrl(url);
  const host = values.host ?? variable(env, 'PGHOST') ?? 'localhost';
  const port = portOf(values.port ?? variable(env, 'PGPORT') ?? '5432');
  const user = values.user ?? variable(env, 'PGUSER') ?? userInfo().username;
  const database = values.dbname ?? variable(env, 'PGDATABASE') ?? user;
  const tls = tlsOf(values.sslmode ?? variable(env, 'PGSSLMODE'), host);
  refuseUnverified(env, host, tls);
  // Where libpq looks for certificates.
  const usual = libpqFile(system, '.postgresql/root.crt', 'root.crt');
  const named = values.sslrootcert ?? variable(env, 'PGSSLROOTCERT');
  const rootCertificates = named ?? ((await exists(usual)) ? usual : undefined);
  return {
    host,
    port,
    user,
    database,
    password: await passwordIn({ host, port, user, database }, system),
    // As libpq does: with root certificates, the server's certificate is verified.
    tls: tls === 'encrypt' && rootCertificates !== undefined ? 'verify-ca' : tls,
    rootCertificates,
    extraCertificates: variable(env, 'NODE_EXTRA_CA_CERTS'),
    name: `${host.startsWith('/') ? 'socket' : host}${port === 5432 ? '' : `:${port}`}/${database}`,
  };
}

/** @throws Failure config where Node is set to trust every certificate, and a password would leave this machine */
function refuseUnverified(env: System['env'], host: string, tls: LedgerTls): void {
  const isVerified = tls === 'verify-ca' || tls === 'verify-full';
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0' || !isVerified || isLocal(host)) return;
  throw new Failure('config', 'NODE_TLS_REJECT_UNAUTHORIZED=0 would trust any server as the ledger: nothing was sent', {
    hint: 'Unset it, and give the authority of the server with sslrootcert, --ca-file FILE or NODE_EXTRA_CA_CERTS.',
  });
}

function isLocal(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host);
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port < 65_536) return port;
  throw new Failure('config', `the port of the ledger is not a number from 1 to 65535: '${text}'`);
}

const modes: Readonly<Record<string, LedgerTls>> = {
  disable: 'none',
  require: 'encrypt',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
};

/** Without a mode nothing leaves this machine unencrypted, or to a server whose certificate is not verified. */
function tlsOf(mode: string | undefined, host: string): LedgerTls {
  if (host.startsWith('/')) return 'none';
  if (mode === undefined) return isLocal(host) ? 'none' : 'verify-full';
  const tls = modes[mode];
  if (tls) return tls;
  throw new Failure('config', `the sslmode of the ledger is '${mode}', which leaves open whether TLS is used`, {
    hint: `Choose ${Object.keys(modes).join(', ')}.`,
  });
}

type DatabasePlace = Pick<LedgerAddress, 'host' | 'port' | 'database' | 'user'>;

/** Finds the password as libpq does; the package would show it in a trace. @throws Failure if others can read it */
async function passwordIn(place: DatabasePlace, system: System): Promise<Secret | undefined> {
  const text = variable(system.env, 'PGPASSWORD');
  if (text !== undefined) return new Secret(text);
  const file = variable(system.env, 'PGPASSFILE') ?? libpqFile(system, '.pgpass', 'pgpass.conf');
  const found = passwordOf((await readPrivate(file, system)) ?? '', place);
  return found === undefined ? undefined : new Secret(found);
}

/** The first line that fits decides. A file names a unix socket `localhost`. */
function passwordOf(text: string, { host, port, database, user }: DatabasePlace): string | undefined {
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    const cells = [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, cell = '']) => cell.replace(/\\(.)/g, '$1'));
    const password = cells[4];
    const fits = wanted.every((value, index) => cells[index] === '*' || cells[index] === value);
    if (fits && password !== undefined && password !== '') return password;
  }
  return undefined;
}
