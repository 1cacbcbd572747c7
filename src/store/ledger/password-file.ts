import { Secret } from '../../core/secret.ts';
import { variable, type System } from '../../core/system.ts';
import { libpqFile } from '../disk/folders.ts';
import { readPrivate } from '../disk/private-file.ts';
import type { ServiceValues } from './service-file.ts';

/** What a line of a password file is compared with. */
interface PasswordPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password as libpq finds it: of the service, of PGPASSWORD, or in the file of PGPASSFILE (~/.pgpass, on Windows pgpass.conf); undefined where none is.
 * @throws Failure config for a file that others can read
 */
export async function passwordIn(
  { password, passfile }: ServiceValues,
  place: PasswordPlace,
  system: System,
): Promise<Secret | undefined> {
  const text = password ?? variable(system.env, 'PGPASSWORD');
  if (text !== undefined) return new Secret(text);
  const file = passfile ?? variable(system.env, 'PGPASSFILE') ?? libpqFile(system, '.pgpass', 'pgpass.conf');
  const found = passwordOf((await readPrivate(file, system)) ?? '', place);
  return found === undefined ? undefined : new Secret(found);
}

/** The first line that fits decides. A file names a unix socket `localhost`. */
function passwordOf(text: string, { host, port, database, user }: PasswordPlace): string | undefined {
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const cells = [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, cell = '']) => cell.replace(/\\(.)/g, '$1'));
    const password = cells[4];
    const fits = wanted.every((value, index) => cells[index] === '*' || cells[index] === value);
    if (fits && password !== undefined && password !== '') return password;
  }
  return undefined;
}
