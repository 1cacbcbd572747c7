import { json, type SandboxAnswer } from '../answer.ts';
import type { LicenseRecord } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import type { State } from '../state.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/world.ts';
import { Unacceptable } from './input.ts';
import { type Motion, listShapeOf, type ListPage, type ListShape, type PageLink } from './list-shapes.ts';
import { storedName, rowOf } from './license-body.ts';
import type { LicenseShape } from './options.ts';

interface ListCall {
  readonly state: State;
  readonly request: SandboxRequest;
  readonly app_code: number;
  readonly shape: LicenseShape;
  readonly lag: Lag;
  readonly motion: Motion;
}

/** GET /license/: the application's licenses in the order of their creation unless they move, filtered by their text. @throws Unacceptable */
export function listLicenses(call: ListCall): SandboxAnswer {
  const { query } = call.request;
  const own = call.lag.visible(call.state.licenses.rows()).filter((license) => license.app_code === call.app_code);
  const rows = call.shape.filters === 'ignored' ? own : filtered(own, query, call.shape);
  const asked = listShapeOf(call.shape.list ?? 'array');
  // Whoever asks for a part gets one, from a server of arrays too.
  const wantsPart = query.has('limit') || query.has('page');
  const shape = wantsPart && asked.pages === 'whole' ? listShapeOf('pages') : asked;
  const page =
    shape.pages === 'whole' ? wholeList(call, rows) : pageOf(call, movedRows(call, rows, shape), shape.pages);
  const { status = 200, body, headers = {} } = shape.answer(page);
  return json(status, body, headers);
}

/** A list of one page has no time to move. */
function movedRows(
  { request, shape: { pageSize }, motion }: ListCall,
  rows: readonly LicenseRecord[],
  shape: ListShape,
): readonly LicenseRecord[] {
  if (!shape.motion || rows.length <= (pageSize ?? defaultPageSize)) return rows;
  return motion.arranged(rows, shape.motion, natural(request.query.get('page')) ?? 1);
}

const defaultPageSize = 100;

/** An empty filter filters nothing. */
function filtered(
  licenses: readonly LicenseRecord[],
  query: URLSearchParams,
  shape: LicenseShape,
): readonly LicenseRecord[] {
  const typed = query.get('remote_user');
  const user = typed && shape.filters !== 'exact' ? storedName(typed, shape.names) : typed;
  const app = query.get('app_code');
  if (app && !/^-?\d+$/.test(app)) throw new Unacceptable(400, { app_code: ['Enter a number.'] });
  return licenses.filter(
    (license) => (!user || license.remote_user === user) && (!app || license.app_code === Number(app)),
  );
}

function wholeList(call: ListCall, rows: readonly LicenseRecord[]): ListPage {
  const shown = rows.map((license) => rowOf(license, call.shape));
  return { rows: shown, total: rows.length, start: 0, next: undefined, previous: undefined };
}

/** `?page=N` and `?pageToken=N` count pages, `?limit=N&offset=M` rows; the links keep the rest of the query. */
function pageOf(call: ListCall, rows: readonly LicenseRecord[], pages: ListShape['pages']): ListPage {
  const { query } = call.request;
  const size = Math.min(natural(query.get('limit')) ?? Infinity, call.shape.pageSize ?? defaultPageSize);
  const byOffset = query.has('limit') || query.has('offset');
  const number = natural(query.get('page') ?? query.get('pageToken')) ?? 1;
  const start = byOffset ? (natural(query.get('offset')) ?? 0) : (number - 1) * size;
  if (start < 0 || (start > 0 && start >= rows.length && !byOffset))
    throw new Unacceptable(404, { detail: 'Invalid page.' });
  const at = (from: number): PageLink => {
    const page = Math.floor(from / size) + 1;
    return linkTo(call, page, byOffset ? { limit: size, offset: from } : { page });
  };
  const part = pages === 'first only' && start > 0 ? [] : rows.slice(start, start + size);
  const following = start + size < rows.length ? at(start + size) : undefined;
  return {
    rows: part.map((license) => rowOf(license, call.shape)),
    total: rows.length,
    start,
    next: call.shape.nextRepeats ? at(start) : following,
    previous: start > 0 ? at(Math.max(0, start - size)) : undefined,
  };
}

function natural(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

/** The link to the page of that number; `place` is what its query sets. */
function linkTo({ request, shape }: ListCall, number: number, place: Readonly<Record<string, number>>): PageLink {
  const query = new URLSearchParams(request.query);
  for (const [name, value] of Object.entries(place)) query.set(name, String(value));
  const path = `/v1/license/?${query.toString()}`;
  return {
    ...{ path, url: `${shape.nextOrigin ?? request.origin}${path}`, query: `?${query.toString()}` },
    ...{ number, token: String(number) },
  };
}

/** A list that shows each change only some time after it was made, as a replica of a database does. */
export interface Lag {
  /** A license was created (`before` undefined) or changed just now. */
  note(license_code: string, before: LicenseRecord | undefined): void;
  /** The licenses as the list shows them now. */
  visible(licenses: readonly LicenseRecord[]): readonly LicenseRecord[];
}

interface Version {
  /** When `before` was replaced. */
  readonly time: Milliseconds;
  readonly before: LicenseRecord | undefined;
}

/** @param span how long a change stays unseen; 0: each is seen at once */
export function createLag(clock: Clock, span: Milliseconds): Lag {
  const recent = new Map<string, readonly Version[]>();
  const unseen = (code: string): Version | undefined => recent.get(code)?.find(({ time }) => clock.now() - time < span);
  return {
    note(code, before) {
      if (span === 0) return;
      const rest = (recent.get(code) ?? []).filter(({ time }) => clock.now() - time < span);
      recent.set(code, [...rest, { time: clock.now(), before }]);
    },
    visible(licenses) {
      if (span === 0) return licenses;
      return licenses.flatMap((license) => {
        const version = unseen(license.license_code);
        return version ? (version.before ?? []) : license;
      });
    },
  };
}
