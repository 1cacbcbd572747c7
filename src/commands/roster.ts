import type { LicensingApi } from '../api/licensing/licensing.ts';
import { mapped, type Rows } from '../core/rows.ts';
import type { Completion, Placed, User } from '../jobs/roster/read-roster.ts';
import type { Fields } from '../schema/field.ts';
import { rosterFormats } from '../store/roster/roster-file.ts';
import type { Context } from './context.ts';
import { appCodeOf } from './license/options.ts';

/** The option of every command that reads a roster. */
export const rosterOptions = {
  input_format: {
    kind: 'string',
    choices: rosterFormats,
    placeholder: 'FORMAT',
    help: 'csv, ndjson or json (default: by extension, else by how the text begins)',
  },
} as const satisfies Fields;

/** The option of every command that sends a request for each row. */
export const workerOptions = {
  concurrency: {
    kind: 'integer',
    min: 1,
    max: 64,
    placeholder: 'N',
    help: 'Most requests at the same time (default: 4)',
  },
} as const satisfies Fields;

export const defaultConcurrency = 4;

/** Fills in the run's own application, for comparing rows. @throws Failure config where nobody tells it */
export function ownCodeIn<R extends User>(typed: number | undefined, context: Context): () => Promise<Completion<R>> {
  return async () => {
    const own = await appCodeOf(context, typed);
    return (row) => ({ ...row, app_code: row.app_code ?? own });
  };
}

/**
 * The rows of a roster, each with an application: its own, else the run's.
 * @throws Failure config where nobody tells the application
 */
export async function withAppCodes<R extends User>(
  read: Rows<Placed<R>>,
  typed: number | undefined,
  context: Context,
): Promise<Rows<Placed<R & { readonly app_code: number }>>> {
  const ownCode = isAnyWithoutCode(read) ? await appCodeOf(context, typed) : 0;
  return mapped(read, read.length, ({ place, row }) => ({ place, row: { ...row, app_code: row.app_code ?? ownCode } }));
}

function isAnyWithoutCode(rows: Iterable<Placed<User>>): boolean {
  for (const { row } of rows) if (row.app_code === undefined) return true;
  return false;
}

/** One API for each application, on the key that is stored for it. */
export function apiOfEachApp(context: Context): (app_code: number | undefined) => LicensingApi {
  const known = new Map<number | undefined, LicensingApi>();
  return (app_code) => {
    const api = known.get(app_code) ?? context.licensing({ app_code });
    known.set(app_code, api);
    return api;
  };
}
