import { unless, usage } from '../core/failure.ts';

const noHost = '-';
const shape = 'Write it as in postgres://chatelaine@db.example.com/ledger.';
const parameters = ['host', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert'] as const;

/** A ledger's URL, as libpq reads one. @throws Failure usage, without the text, which may hold a password */
export function parseLedgerUrl(text: string): Readonly<Partial<Record<(typeof parameters)[number], string>>> {
  // The class URL needs something in place of a host that is left out after a user.
  const written = text.replace(/^([a-z]+:\/\/[^/?#@]*@)(?=[/?]|$)/i, `$1${noHost}`);
  const isClean = /^postgres(ql)?:\/\//i.test(text) && !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(written);
  if (!isClean) throw usage('the URL of the ledger does not begin with postgres:// or is malformed', shape);
  const url = new URL(written);
  if (url.password !== '' || url.searchParams.has('password'))
    throw usage(
      'the URL of the ledger contains a password',
      'Leave it out, and set PGPASSWORD, or write the password into ~/.pgpass (PGPASSFILE).',
    );
  const unknown = [...url.searchParams.keys()].filter((name) => !parameters.some((supported) => supported === name));
  if (unknown.length > 0 || url.hash !== '')
    throw usage('the URL of the ledger has an unknown parameter', `Supported: ${parameters.join(', ')}.`);
  const host = url.hostname === noHost ? '' : decode(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  const parts = { host, port: url.port, user: decode(url.username), dbname: decode(url.pathname.slice(1)) };
  return Object.fromEntries([...Object.entries(parts).filter(([, text]) => text !== ''), ...url.searchParams]);
}

/** Returns the text if it is the URL of a ledger. @throws Failure usage */
export function readLedgerUrl(text: string): string {
  parseLedgerUrl(text);
  return text;
}

function decode(text: string): string {
  const plain = unless(URIError, () => decodeURIComponent(text));
  if (plain !== undefined) return plain;
  throw usage('the URL of the ledger has a malformed % escape', 'Write %25 for a percent sign.');
}
