import { json, type SandboxAnswer } from '../answer.ts';
import type { LicenseRecord } from '../records.ts';
import { Unacceptable, type LicensingCall } from './licensing-call.ts';
import { keptName, rowOf } from './shapes.ts';

/** The application's licenses in the order of their creation. @throws Unacceptable */
export function listLicenses(call: LicensingCall): SandboxAnswer {
  const { request, shape } = call;
  const own = call.lag.visible(call.state.licenses.rows()).filter((license) => license.app_code === call.app_code);
  const found = shape.filters === 'ignored' ? own : filterLicenses(own, call);
  const rows = found.map((license) => rowOf(license, shape));
  // A request for a part gets a page, also where whole lists are arrays.
  if (shape.list_shape === 'next' || request.query.has('limit') || request.query.has('page'))
    return json(200, pageOf(call, rows));
  return json(200, shape.list_shape === 'data' ? { data: rows, total: rows.length } : rows);
}

/** An empty filter filters nothing. */
function filterLicenses(licenses: readonly LicenseRecord[], { request, shape }: LicensingCall) {
  const typed = request.query.get('remote_user');
  const user = typed && keptName(typed, shape);
  const app = request.query.get('app_code');
  if (app && !/^-?\d+$/.test(app)) throw new Unacceptable(400, { app_code: ['Enter a number.'] });
  return licenses.filter(
    (license) => (!user || license.remote_user === user) && (!app || license.app_code === Number(app)),
  );
}

/** `?page=N` counts pages, `?limit=N&offset=M` rows; the links keep the rest of the query. */
function pageOf({ request: { query, origin }, shape: { page_size = 100 } }: LicensingCall, rows: readonly object[]) {
  const size = Math.min(natural(query.get('limit')) ?? Infinity, page_size);
  const byOffset = query.has('limit') || query.has('offset');
  const start = byOffset ? (natural(query.get('offset')) ?? 0) : ((natural(query.get('page')) ?? 1) - 1) * size;
  if (start > 0 && start >= rows.length && !byOffset) throw new Unacceptable(404, { detail: 'Invalid page.' });
  const at = (from: number): string => {
    const asked = new URLSearchParams(query);
    const place = byOffset ? { limit: size, offset: from } : { page: Math.floor(from / size) + 1 };
    for (const [name, value] of Object.entries(place)) asked.set(name, String(value));
    return `${origin}/v1/license/?${asked.toString()}`;
  };
  return {
    count: rows.length,
    next: start + size < rows.length ? at(start + size) : null,
    previous: start > 0 ? at(Math.max(0, start - size)) : null,
    results: rows.slice(start, start + size),
  };
}

function natural(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
