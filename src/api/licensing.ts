import { Failure } from '../core/failure.ts';
import { licenseFields, licenseKeyFields, type LicenseFields } from '../spec/license.ts';
import { foreignBody, incompleteAfter, isObject, isSuccess, redirected, wordsOf, type JsonObject } from './answer.ts';
import { encodeParameters, type Answer, type Parameters, type Send } from './http.ts';
import { path, type Path } from './path.ts';

/** A license as the server returned it: its fields are not specified. A bare key becomes `{ license_code }`. */
export type License = JsonObject;

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

export interface LicensingApi {
  /** POST. Undefined: created, and the answer holds no license. @throws Failure unknown in doubt */
  create(license: LicenseFields): Promise<License | undefined>;
  /** GET, all pages; filtered again here. @throws Failure incomplete where a later page fails */
  list(filter?: LicenseFilter): AsyncGenerator<License>;
  /** @throws Failure not_found */
  view(code: string): Promise<License>;
  /** PUT: the whole license. @throws Failure not_found */
  replace(code: string, license: LicenseFields): Promise<License>;
  /** PATCH: only the fields given. @throws Failure not_found */
  update(code: string, fields: Partial<LicenseFields>): Promise<License>;
  /** The earliest license that activated the sensor. @throws Failure not_found where there is none */
  firstActivation(query: { readonly mac_address: string; readonly app_code?: number | undefined }): Promise<License>;
}

const licenses = path`/v1/license/`;
const license = (code: string): Path => path`/v1/license/${{ name: 'license_code', value: code }}/`;

/** How to reach one application, found out when the first call is made. */
export interface LicensingLine {
  readonly send: Send;
  /** The profile's name for the field that holds the key. */
  readonly key_field?: string | undefined;
}

/** Each licensing URL, and the meaning of its answers (specification, Endpoints; contract, section 5). */
export function licensingApi(open: () => Promise<LicensingLine>): LicensingApi {
  return {
    async create(fields) {
      const line = await open();
      const answer = await line.send({ method: 'POST', path: licenses, json: fields, repeat: 'if unprocessed' });
      refuse(answer);
      if (isNothing(answer)) return undefined;
      if (answer.body === undefined) throw inDoubt(answer);
      return createdIn(answer, line);
    },

    list: (filter = {}) => listPages(open, filter),

    async view(code) {
      const line = await open();
      const answer = await line.send({ method: 'GET', path: license(code), repeat: 'safe' });
      refuse(answer, 'no license has this code');
      return shownLicense(answer, line);
    },

    replace: async (code, fields) => edit(await open(), 'PUT', code, fields),

    update: async (code, fields) => edit(await open(), 'PATCH', code, fields),

    async firstActivation({ mac_address, app_code }) {
      const query = parametersOf({ mac_address, app_code });
      const line = await open();
      const answer = await line.send({ method: 'GET', path: path`/v1/first-activation/`, query, repeat: 'safe' });
      const missing = `no license has activated the sensor ${mac_address}`;
      refuse(answer, missing);
      if (isNothing(answer)) throw new Failure('not_found', missing, { http: answer.http });
      return shownLicense(answer, line);
    },
  };
}

/** Something else than a license: it was created all the same, and must not be reported as safe to run again. */
function createdIn(answer: Answer, line: LicensingLine): License | undefined {
  try {
    return shownLicense(answer, line);
  } catch (cause) {
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}

async function edit(
  line: LicensingLine,
  method: 'PUT' | 'PATCH',
  code: string,
  fields: Partial<LicenseFields>,
): Promise<License> {
  const answer = await line.send({ method, path: license(code), json: fields, repeat: 'safe' });
  refuse(answer, 'no license has this code');
  return isNothing(answer) ? { license_code: code, ...fields } : licenseOf(answer, line);
}

function parametersOf(values: Readonly<Record<string, string | number | undefined>>): Parameters {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
}

/** Of a `next` only the query is used. */
const anyOrigin = 'http://page.invalid';

async function* listPages(open: () => Promise<LicensingLine>, filter: LicenseFilter): AsyncGenerator<License> {
  const line = await open();
  const seen = new Set<string>();
  let query = parametersOf({ remote_user: filter.remote_user, app_code: filter.app_code });
  for (let pages = 0; ; pages += 1) {
    seen.add(encodeParameters(query));
    const page = await readPage(line, query, pages);
    for (const row of page.rows) if (matches(row, filter)) yield row;
    if (page.next === undefined) return;
    if (!URL.canParse(page.next, anyOrigin))
      throw brokenList('the server names a next page that is no URL', page.answer);
    query = [...new URL(page.next, anyOrigin).searchParams];
    if (seen.has(encodeParameters(query)))
      throw brokenList('the server names a page as next that was read before', page.answer);
  }
}

async function readPage(line: LicensingLine, query: Parameters, pages: number): Promise<Page & { answer: Answer }> {
  try {
    const answer = await line.send({ method: 'GET', path: licenses, query, repeat: 'safe' });
    refuse(answer);
    return { ...pageOf(answer, line), answer };
  } catch (cause) {
    throw pages === 0 ? cause : incompleteAfter(pages, cause);
  }
}

function brokenList(message: string, answer: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${message}`, { http: answer.http, retryable: false });
}

interface Page {
  readonly rows: readonly License[];
  readonly next: string | undefined;
}

function pageOf(answer: Answer, line: LicensingLine): Page {
  const { body } = answer;
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (answer.status === 204) return { rows: [], next: undefined };
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return { rows: body.map((row) => rowOf(row, answer, line)), next: undefined };
  const rows = isObject(body)
    ? (body['results'] ?? Object.values(body).find((value) => Array.isArray(value)))
    : undefined;
  if (!isObject(body) || !Array.isArray(rows)) throw unreadable(answer, 'no list of licenses');
  const next = body['next'];
  return {
    rows: rows.map((row) => rowOf(row, answer, line)),
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

function rowOf(row: unknown, answer: Answer, line: LicensingLine): License {
  if (isObject(row)) return withKeyField(row, line.key_field);
  if (typeof row === 'string' || typeof row === 'number' || typeof row === 'bigint') return { license_code: row };
  throw unreadable(answer, 'a row that is no license');
}

/** Exact text where the row has the field; a row of a filtered answer without it is trusted (contract, section 5). */
export function matches(row: License, filter: LicenseFilter): boolean {
  return (['remote_user', 'app_code'] as const).every(
    (name) => filter[name] === undefined || row[name] === undefined || wordOf(row[name]) === String(filter[name]),
  );
}

function licenseOf(answer: Answer, line: LicensingLine): License {
  if (answer.body === undefined) throw foreignBody(answer, 'the licensing API');
  const only = Array.isArray(answer.body) && answer.body.length === 1 ? (answer.body[0] as unknown) : answer.body;
  if (!isObject(only)) return rowOf(only, answer, line);
  const [inner, ...others] = Object.values(only).filter((value) => isObject(value));
  const outer = withKeyField(only, line.key_field);
  return inner && others.length === 0 && isWrapper(outer, inner, line) ? withKeyField(inner, line.key_field) : outer;
}

/** Whether the license is the inner object: a text such as `message` beside it is not the key. */
function isWrapper(outer: License, inner: JsonObject, { key_field }: LicensingLine): boolean {
  if (isLicense(outer)) return false;
  if (findKey(outer) === undefined) return true;
  const isNamed = key_field !== undefined || licenseKeyFields.some((name) => typeof outer[name] === 'string');
  return isLicense(inner) && !isNamed;
}

/** Whether it has a field of a license that the specification names. */
function isLicense(value: JsonObject): boolean {
  return 'remote_user' in value || 'size_allowance' in value;
}

/** @throws Failure unavailable naming the fields of what is no license */
function shownLicense(answer: Answer, line: LicensingLine): License {
  const license = licenseOf(answer, line);
  if (isOfThisApi(license)) return license;
  throw unreadable(answer, 'no license');
}

/** Whether an object is of this API at all: it holds a key, or one of the fields that every license has. */
function isOfThisApi(license: License): boolean {
  return findKey(license) !== undefined || Object.keys(licenseFields).some((name) => license[name] !== undefined);
}

function isNothing({ text, body }: Answer): boolean {
  if (text.trim() === '' || body === null || body === '') return true;
  return typeof body === 'object' && Object.keys(body).length === 0;
}

/** The profile's name for the key's field travels with the license, unseen by JSON. */
const keyFieldOf = Symbol('key_field');

function withKeyField(license: JsonObject, keyField: string | undefined): License {
  return keyField === undefined ? license : Object.defineProperty({ ...license }, keyFieldOf, { value: keyField });
}

/** The license with further fields before its own, which win. */
export function withFields(fields: JsonObject, license: License): License {
  return withKeyField({ ...fields, ...license }, (license as { readonly [keyFieldOf]?: string })[keyFieldOf]);
}

/**
 * The key of a license, whatever its field is called (contract, section 5).
 * @throws Failure unavailable naming the fields where nothing fits
 */
export function keyOf(license: License): string {
  const name = findKey(license);
  const value = name === undefined ? undefined : license[name];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  const names = Object.keys(license).join(', ');
  throw new Failure(
    'unavailable',
    `no field of the license holds a key that can be recognised; its fields are: ${names === '' ? 'none' : names}`,
    {
      hint: 'Name the field in the profile: chatelaine auth login licensing … --key-field FIELD.',
      retryable: false,
    },
  );
}

/** Fields of a license that are certainly not its key. */
const explained: ReadonlySet<string> = new Set([
  'remote_user',
  'app_code',
  'size_allowance',
  'mac_address',
  'detail',
  'status',
]);
const longestKey = 200;

/** The name of the field that holds the key; undefined where nothing fits. */
export function findKey(license: License): string | undefined {
  const told = (license as { readonly [keyFieldOf]?: string })[keyFieldOf];
  if (told !== undefined) return isKey(license[told]) ? told : undefined;
  const known = licenseKeyFields.find((name) => isKey(license[name]));
  if (known !== undefined) return known;
  const [only, ...others] = Object.entries(license).filter(([name, value]) => !explained.has(name) && mayBeKey(value));
  return others.length === 0 ? only?.[0] : undefined;
}

/** A date, a URL or a sentence explains itself: it is no key. */
function mayBeKey(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length < longestKey &&
    !/^(\d{4}-\d\d-\d\d|https?:\/\/)|\s/.test(value)
  );
}

function isKey(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint';
}

/** Throws what a refusal means; `missing` is what a 404 of a single thing says. */
function refuse(answer: Answer, missing?: string): void {
  if (isSuccess(answer)) return;
  const { status, http } = answer;
  const said = explain(answer);
  const server = { msg: said };
  if (status >= 300 && status < 400) throw redirected(answer);
  if (status === 401 || status === 403) {
    throw new Failure('auth', `the licensing API refused the key or the right (${status}): ${said}`, {
      hint: 'Check the stored key: chatelaine auth status.',
      http,
      server,
    });
  }
  if (status === 404 && missing !== undefined) {
    const hint = isPage(answer) ? 'The answer is an HTML page: the base URL of the profile may be wrong.' : undefined;
    throw new Failure('not_found', missing, { hint, http, server });
  }
  if (status >= 500) {
    throw new Failure('unavailable', `the licensing API is in trouble (${status}): ${said}`, {
      hint: 'Run the command again later.',
      http,
      server,
    });
  }
  throw new Failure('rejected', `the licensing API refused the request (${status}): ${said}`, {
    hint: status === 404 ? 'Check the base URL of the profile: it stands before /v1.' : undefined,
    http,
    server,
  });
}

/** Errors have no specified shape: `detail`, lists by field, or the text itself. */
function explain({ body, text }: Answer): string {
  if (isObject(body)) {
    const { detail } = body;
    if (typeof detail === 'string') return detail;
    return Object.entries(body)
      .map(
        ([name, value]) =>
          `${name}: ${Array.isArray(value) ? value.map((item) => wordOf(item)).join(' ') : wordOf(value)}`,
      )
      .join('; ');
  }
  if (Array.isArray(body)) return body.map((item) => wordOf(item)).join(' ');
  return typeof body === 'string' ? body : wordsOf(text.slice(0, 20_000)) || 'no reason given';
}

function wordOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}

function isPage({ text }: Answer): boolean {
  return /^\s*</.test(text);
}

function inDoubt(answer: Answer): Failure {
  const { message, details } = foreignBody(answer, 'the licensing API');
  return new Failure('unknown', `${message}; the license may or may not have been created`, {
    ...details,
    retryable: false,
  });
}

function unreadable(answer: Answer, what: string): Failure {
  const names = isObject(answer.body) ? ` (its fields: ${Object.keys(answer.body).join(', ')})` : '';
  return new Failure('unavailable', `the licensing API answered ${what}${names}`, {
    hint: 'Check the base URL of the profile.',
    http: answer.http,
    retryable: false,
  });
}
