import { json, type SandboxAnswer } from '../answer.ts';
import type { LicenseRecord } from '../records.ts';
import { Unacceptable, type LicensingCall } from './licensing-call.ts';
import { listShapes, type ListPage, type ListShape, type PageLink } from './shapes/list-shapes.ts';
import { storedName, rowOf } from './shapes/license-body.ts';
import type { LicenseShape } from './shapes/options.ts';

/** The application's licenses in the order of their creation unless they move. @throws Unacceptable */
export function listLicenses(call: LicensingCall): SandboxAnswer {
  const { query } = call.request;
  const own = call.lag.visible(call.state.licenses.rows()).filter((license) => license.app_code === call.app_code);
  const rows = call.shape.filters === 'ignored' ? own : filterLicenses(own, query, call.shape);
  const asked: ListShape = listShapes[call.shape.list_shape ?? 'array'];
  // Whoever asks for a part gets one, from a server of arrays too.
  const wantsPart = query.has('limit') || query.has('page');
  const shape = wantsPart && asked.pages === 'whole' ? listShapes.pages : asked;
  const { status = 200, body, headers = {} } = shape.answer(pageOf(call, rows, shape));
  return json(status, body, headers);
}

/** An empty filter filters nothing. */
function filterLicenses(
  licenses: readonly LicenseRecord[],
  query: URLSearchParams,
  shape: LicenseShape,
): readonly LicenseRecord[] {
  const typed = query.get('remote_user');
  const user = typed && nameIn(typed, shape);
  const app = query.get('app_code');
  if (app && !/^-?\d+$/.test(app)) throw new Unacceptable(400, { app_code: ['Enter a number.'] });
  return licenses.filter(
    (license) => (!user || license.remote_user === user) && (!app || license.app_code === Number(app)),
  );
}

function nameIn(typed: string, { filters = 'changed', names }: LicenseShape): string {
  if (filters === 'changed') return storedName(typed, names);
  if (filters === 'twice') return new URLSearchParams(`name=${typed}`).get('name') ?? '';
  return filters === 'blank' ? typed.replaceAll('+', ' ') : typed;
}

/** `?page=N` and `?pageToken=N` count pages, `?limit=N&offset=M` rows; the links keep the rest of the query. */
function pageOf(call: LicensingCall, all: readonly LicenseRecord[], { pages, motion }: ListShape): ListPage {
  const show = (license: LicenseRecord) => rowOf(license, call.shape);
  if (pages === 'whole')
    return { rows: all.map(show), total: all.length, start: 0, next: undefined, previous: undefined };
  const { query } = call.request;
  const { page_size: pageSize = 100 } = call.shape;
  // A list of one page has no time to move.
  const moves = motion !== undefined && all.length > pageSize;
  const rows = moves ? call.motion.arranged(all, motion, natural(query.get('page')) ?? 1) : all;
  const size = Math.min(natural(query.get('limit')) ?? Infinity, pageSize);
  const byOffset = query.has('limit') || query.has('offset');
  const number = natural(query.get('page') ?? query.get('pageToken')) ?? 1;
  const newest = pages === 'newest' ? Math.max(0, rows.length - size) : 0;
  const start = newest + (byOffset ? (natural(query.get('offset')) ?? 0) : (number - 1) * size);
  if (start < 0 || (start > 0 && start >= rows.length && !byOffset))
    throw new Unacceptable(404, { detail: 'Invalid page.' });
  const at = (from: number): PageLink => {
    const page = Math.floor(from / size) + 1;
    const query = new URLSearchParams(call.request.query);
    for (const [name, value] of Object.entries(byOffset ? { limit: size, offset: from } : { page }))
      query.set(name, String(value));
    const path = `/v1/license/?${query.toString()}`;
    const url = `${call.shape.nextOrigin ?? call.request.origin}${path}`;
    return { url, path, query: `?${query.toString()}`, number: page, token: String(page) };
  };
  const part = pages === 'first only' && start > 0 ? [] : rows.slice(start, start + size);
  return {
    rows: part.map(show),
    total: rows.length,
    start,
    next: start + size < rows.length ? at(start + size) : undefined,
    previous: start > 0 ? at(Math.max(0, start - size)) : undefined,
  };
}

function natural(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
