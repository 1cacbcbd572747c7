import type { Milliseconds } from '../../src/core/duration.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import { empty, html, json, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { LicensingFront } from '../../src/sandbox/licensing/licensing-call.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';

/** Licensing servers of tests that `sandbox serve` does not have: a front that stands before its plain service. */
export interface LicenseShape {
  readonly list_shape?: keyof typeof listShapes | undefined;
  readonly page_size?: number | undefined;
  readonly write_shape?: keyof typeof writeShapes | undefined;
  readonly names?: keyof typeof nameChanges | undefined;
  readonly filters?: 'changed' | 'exact' | 'ignored' | 'twice' | 'blank' | undefined;
  readonly stale?: Milliseconds | undefined;
  /** Name of the field that holds the key; default `license_code`. */
  readonly keyField?: string;
  /** Origin of the links between pages; default the server's. */
  readonly nextOrigin?: string;
}

type Row = JsonObject;
type Ask = (request: SandboxRequest) => SandboxAnswer;

/** The front of a server of that shape. */
export function frontOf(shape: LicenseShape): LicensingFront {
  return (request, service) => answerAs(shape, request, service);
}

function answerAs(shape: LicenseShape, request: SandboxRequest, ask: Ask): SandboxAnswer {
  const { method, path } = request;
  if (path === '/v1/license/' && method === 'GET') return listOf(shape, request, ask);
  if (method === 'GET') return rewritten(ask(request), (license) => fieldsOf(license, shape));
  return answerOfWrite(shape, request, ask);
}

function rewritten(answer: SandboxAnswer, change: (body: Row) => unknown): SandboxAnswer {
  if (answer.status >= 300 || answer.headers['content-type'] !== 'application/json') return answer;
  const body: unknown = JSON.parse(answer.body);
  return isObject(body) ? { ...answer, body: JSON.stringify(change(body)) } : answer;
}

function fieldsOf({ license_code, ...fields }: Row, { keyField = 'license_code' }: LicenseShape): Row {
  return { [keyField]: license_code, ...fields };
}

/** Every change of names before they are kept. */
const nameChanges = {
  lower: (name: string) => name.toLowerCase(),
  upper: (name: string) => name.toUpperCase(),
  domain: (name: string) => name.replace(/@.*/, (domain) => domain.toLowerCase()),
  blanks: (name: string) => name.replaceAll(' ', ''),
  plus: (name: string) => name.replaceAll('+', ' '),
  tags: (name: string) => name.replace(/<[^>]*>/g, ''),
  dot: (name: string) => name.replace(/\.$/, ''),
  decimal: (name: string) => (/^\d+\.\d+$/.test(name) ? String(Number(name)) : name),
  'cut-20': (name: string) => name.slice(0, 20),
  'cut-64': (name: string) => name.slice(0, 64),
  collapse: (name: string) => name.replace(/\s{2,}/g, ' '),
  cut: (name: string) => name.slice(0, 30),
};

function keptName(name: string, { names }: LicenseShape): string {
  return names === undefined ? name : nameChanges[names](name);
}

function filteredName(typed: string, shape: LicenseShape): string {
  const { filters = 'changed' } = shape;
  if (filters === 'changed') return keptName(typed, shape);
  if (filters === 'twice') return new URLSearchParams(`name=${typed}`).get('name') ?? '';
  return filters === 'blank' ? typed.replaceAll('+', ' ') : typed;
}

function listOf(shape: LicenseShape, request: SandboxRequest, ask: Ask): SandboxAnswer {
  const query = new URLSearchParams(request.query);
  for (const name of ['page', 'pageToken', 'limit', 'offset']) query.delete(name);
  const user = query.get('remote_user');
  if (user) query.set('remote_user', filteredName(user, shape));
  if (shape.filters === 'ignored') for (const name of ['remote_user', 'app_code']) query.delete(name);
  const answer = ask({ ...request, query });
  const rows: unknown = answer.status === 200 ? JSON.parse(answer.body) : undefined;
  if (!Array.isArray(rows)) return answer;
  const asked = listShapes[shape.list_shape ?? 'array'];
  const isPart = request.query.has('limit') || request.query.has('page');
  const form: ListShape = isPart && asked.pages === 'whole' ? listShapes.pages : asked;
  const page = pageOf(shape, request, rows.filter(isObject), form);
  if (!page) return json(404, { detail: 'Invalid page.' });
  const { status = 200, body, headers = {} } = form.answer(page);
  return json(status, body, { ...headers });
}

/** `?page=N` and `?pageToken=N` count pages, `?limit=N&offset=M` rows; the links keep the rest of the query. */
function pageOf(
  shape: LicenseShape,
  { query, origin }: SandboxRequest,
  rows: readonly Row[],
  { pages }: ListShape,
): ListPage | undefined {
  const show = (license: Row) => fieldsOf(license, shape);
  if (pages === 'whole')
    return { rows: rows.map(show), total: rows.length, start: 0, next: undefined, previous: undefined };
  const { page_size = 100 } = shape;
  const size = Math.min(natural(query.get('limit')) ?? Infinity, page_size);
  const byOffset = query.has('limit') || query.has('offset');
  const number = natural(query.get('page') ?? query.get('pageToken')) ?? 1;
  const newest = pages === 'newest' ? Math.max(0, rows.length - size) : 0;
  const start = newest + (byOffset ? (natural(query.get('offset')) ?? 0) : (number - 1) * size);
  if (start > 0 && start >= rows.length && !byOffset) return undefined;
  const at = (from: number): PageLink => {
    const page = Math.floor(from / size) + 1;
    const asked = new URLSearchParams(query);
    for (const [name, value] of Object.entries(byOffset ? { limit: size, offset: from } : { page }))
      asked.set(name, String(value));
    const path = `/v1/license/?${asked.toString()}`;
    return { url: `${shape.nextOrigin ?? origin}${path}`, path, query: `?${asked.toString()}`, number: page };
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

/** The rows that one answer holds, and where the others are. */
interface ListPage {
  readonly rows: readonly unknown[];
  /** Rows of the whole list. */
  readonly total: number;
  readonly start: number;
  /** Undefined on the last page. */
  readonly next: PageLink | undefined;
  readonly previous: PageLink | undefined;
}

interface PageLink {
  readonly url: string;
  /** Path and query. */
  readonly path: string;
  readonly query: string;
  /** The first page is 1. */
  readonly number: number;
}

interface ListShape {
  /** `whole`: all rows are in one answer; `first only`: later pages are empty; `newest`: one page, the last. */
  readonly pages: 'whole' | 'all' | 'first only' | 'newest';
  readonly answer: (page: ListPage) => {
    readonly body: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status?: number;
  };
}

export const listShapes = {
  array: { pages: 'whole', answer: ({ rows }) => ({ body: rows }) },
  results: wholeUnder('results'),
  licenses: wholeUnder('licenses'),
  data: wholeUnder('data'),
  items: wholeUnder('items'),
  pages: pageShape(({ total, next, previous }) => ({
    count: total,
    next: next?.url ?? null,
    previous: previous?.url ?? null,
  })),
  'next-path': pageShape(({ next }) => ({ next: next?.path ?? null })),
  'next-query': pageShape(({ next }) => ({ next: next?.query ?? null })),
  'next-url': pageShape(({ next }) => ({ next_url: next?.url ?? null })),
  'next-empty': { ...pageShape(({ next }) => ({ next: next?.url ?? null })), pages: 'first only' },
  cut: { pages: 'all', answer: ({ rows }) => ({ body: rows }) },
  'cut-newest': { pages: 'newest', answer: ({ rows }) => ({ body: rows }) },
  'cut-counted': pageShape(({ rows }) => ({ count: rows.length })),
  'next-page': pageShape(({ next }) => ({ next_page: next?.number ?? null })),
  'has-more': pageShape(({ next }) => ({ has_more: next !== undefined })),
  count: pageShape(({ total }) => ({ count: total })),
  'content-range': {
    pages: 'all',
    answer: ({ rows, start, total }) => ({
      body: rows,
      ...(rows.length < total ? { status: 206 } : {}),
      headers: {
        'content-range': `licenses ${rows.length > 0 ? `${start}-${start + rows.length - 1}` : '*'}/${total}`,
      },
    }),
  },
  'link-header': {
    pages: 'all',
    answer: ({ rows, next }) => ({ body: rows, headers: next ? { link: `<${next.url}>; rel="next"` } : {} }),
  },
} as const satisfies Readonly<Record<string, ListShape>>;

function wholeUnder(name: string): ListShape {
  return { pages: 'whole', answer: ({ rows }) => ({ body: { [name]: rows } }) };
}

/** An object with one page of rows under `results`. */
function pageShape(beside: (page: ListPage) => Readonly<Record<string, unknown>>): ListShape {
  return { pages: 'all', answer: (page) => ({ body: { ...beside(page), results: page.rows } }) };
}

function answerOfWrite(shape: LicenseShape, request: SandboxRequest, ask: Ask): SandboxAnswer {
  const typed: unknown = request.mediaType === 'application/json' ? jsonIn(request.body.toString()) : undefined;
  const sent = isObject(typed) && typeof typed['remote_user'] === 'string' ? typed['remote_user'] : undefined;
  const kept =
    sent === undefined
      ? {}
      : {
          body: Buffer.from(JSON.stringify({ ...(isObject(typed) ? typed : {}), remote_user: keptName(sent, shape) })),
        };
  const answer = ask({ ...request, ...kept });
  if (answer.status >= 300) return answer;
  const after: unknown = JSON.parse(answer.body);
  if (!isObject(after)) return answer;
  const other = (): Row | undefined => {
    const list: unknown = JSON.parse(
      ask({ ...request, method: 'GET', path: '/v1/license/', query: new URLSearchParams() }).body,
    );
    return (Array.isArray(list) ? list.filter(isObject) : []).find(
      (row) => row['remote_user'] !== after['remote_user'],
    );
  };
  const write: Write = { answer, after, other, sent: sent ?? after['remote_user'], request };
  return rewritten(writeShapes[shape.write_shape ?? 'license'](write), (license) => fieldsOf(license, shape));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Write {
  readonly answer: SandboxAnswer;
  readonly after: Row;
  /** Looks for a license of another user. */
  readonly other: () => Row | undefined;
  /** The name of the user as the request has it. */
  readonly sent: unknown;
  readonly request: SandboxRequest;
}

const writeShapes = {
  license: ({ answer }: Write) => answer,
  echo: ({ answer, after, sent }: Write) => json(answer.status, { ...after, remote_user: sent }),
  text: () => ({ ...html(202, 'Accepted'), headers: { 'content-type': 'text/plain' } }),
  empty: ({ answer }: Write) => empty(answer.status),
  'no-content': () => empty(204),
  'other-key': ({ answer, after, other }: Write) =>
    json(answer.status, { ...after, license_code: other()?.['license_code'] ?? 'KEY-OF-SOMEBODY-ELSE' }),
  redirect: ({ answer, request }: Write) =>
    request.method === 'POST' ? empty(302, { location: `${request.origin}/v1/license/` }) : answer,
} as const satisfies Readonly<Record<string, (write: Write) => SandboxAnswer>>;
