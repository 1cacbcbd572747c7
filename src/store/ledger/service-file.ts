import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { variable, type System } from '../../core/system.ts';
import { readBytes } from '../disk/files.ts';
import { libpqFile } from '../disk/folders.ts';
import type { LedgerUrl } from '../../schema/ledger-url.ts';

/** What a service says: the parts of a URL, and maybe a password or the file that has it. */
export interface ServiceValues extends LedgerUrl {
  readonly password?: string;
  readonly passfile?: string;
}

/**
 * The parameters of a service, from the file of PGSERVICEFILE, else ~/.pg_service.conf, else pg_service.conf in the folder of PGSYSCONFDIR.
 * @throws Failure config where no file has the service
 */
export async function serviceIn(service: string, host: System): Promise<ServiceValues> {
  const { env } = host;
  const system = variable(env, 'PGSYSCONFDIR');
  const files = [
    variable(env, 'PGSERVICEFILE') ?? libpqFile(host, '.pg_service.conf', '.pg_service.conf'),
    ...(system === undefined ? [] : [join(system, 'pg_service.conf')]),
  ];
  for (const file of files) {
    const values = sectionOf(String((await readBytes(file)) ?? ''), service);
    if (values) return values;
  }
  throw new Failure('config', `the service '${service}' of the ledger is not in ${files.join(' or ')}`, {
    hint: 'PGSERVICEFILE names the file of services; it has a section [name] with host=, user= and dbname=.',
  });
}

function sectionOf(text: string, service: string): ServiceValues | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const start = lines.indexOf(`[${service}]`);
  if (start < 0) return undefined;
  const after = lines.slice(start + 1);
  const end = after.findIndex((line) => line.startsWith('['));
  const own = end < 0 ? after : after.slice(0, end);
  return Object.fromEntries(
    own.flatMap((line) => {
      const [, name, value] = /^([a-z_]+)\s*=\s*(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}
