import { json, type Answer } from '../answer.ts';
import { Unacceptable } from './input.ts';
import { rowOf, type LicenseShape } from './shape.ts';
import type { License } from '../records.ts';
import type { Request } from '../request.ts';
import type { State } from '../state.ts';

interface ListCall {
  readonly state: State;
  readonly request: Request;
  readonly app_code: number;
  readonly shape: LicenseShape;
  readonly origin: () => string;
}

/** GET /license/: the application's licenses in the order of their creation, filtered by exact text. @throws Unacceptable */
export function listLicenses(call: ListCall): Answer {
  const { query } = call.request;
  const own = call.state.licenses.rows().filter((license) => license.app_code === call.app_code);
  const rows = call.shape.ignoresFilters ? own : filtered(own, query);
  const show = (part: readonly License[]) => part.map((license) => rowOf(license, call.shape));
  if (call.shape.list === 'pages' || query.has('limit') || query.has('page')) return page(call, rows, show);
  return json(200, call.shape.list === 'wrapped' ? { licenses: show(rows) } : show(rows));
}

/** An empty filter filters nothing. */
function filtered(licenses: readonly License[], query: URLSearchParams): readonly License[] {
  const user = query.get('remote_user');
  const app = query.get('app_code');
  if (app && !/^-?\d+$/.test(app)) throw new Unacceptable(400, { app_code: ['Enter a number.'] });
  return licenses.filter(
    (license) => (!user || license.remote_user === user) && (!app || license.app_code === Number(app)),
  );
}

/** `?page=N` counts pages, `?limit=N&offset=M` rows; the links keep the rest of the query. */
function page(call: ListCall, rows: readonly License[], show: (part: readonly License[]) => unknown[]): Answer {
  const { query } = call.request;
  const size = Math.min(natural(query.get('limit')) ?? Infinity, call.shape.pageSize ?? 100);
  const byOffset = query.has('limit') || query.has('offset');
  const number = natural(query.get('page')) ?? 1;
  const start = byOffset ? (natural(query.get('offset')) ?? 0) : (number - 1) * size;
  if (start < 0 || (start > 0 && start >= rows.length && !byOffset))
    throw new Unacceptable(404, { detail: 'Invalid page.' });
  const at = (from: number) =>
    linkTo(call, byOffset ? { limit: size, offset: from } : { page: Math.floor(from / size) + 1 });
  return json(200, {
    count: rows.length,
    next: call.shape.nextRepeats ? at(start) : start + size < rows.length ? at(start + size) : null,
    previous: start > 0 ? at(Math.max(0, start - size)) : null,
    results: show(rows.slice(start, start + size)),
  });
}

function natural(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

function linkTo({ origin, request, shape }: ListCall, place: Readonly<Record<string, number>>): string {
  const query = new URLSearchParams(request.query);
  for (const [name, value] of Object.entries(place)) query.set(name, String(value));
  return `${shape.nextOrigin ?? origin()}/v1/license/?${query.toString()}`;
}
