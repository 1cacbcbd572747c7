import type { Milliseconds } from '../core/duration.ts';
import type { Clock } from '../core/world.ts';
import type { Allowance } from './allowance.ts';
import { empty, html, json, unknownPage, type SandboxAnswer } from './answer.ts';
import { newLicenseCode, sampleApps } from './sample/organization.ts';
import { errorBody, bodyOf } from './licensing/license-body.ts';
import { writeShapeOf } from './licensing/write-shapes.ts';
import { readLicense, sentName, Unacceptable, type LicenseInput } from './licensing/input.ts';
import { type Lag, listLicenses } from './licensing/list.ts';
import type { Motion } from './licensing/list-shapes.ts';
import type { LicenseShape } from './licensing/options.ts';
import type { LicenseRecord } from './records.ts';
import type { SandboxRequest } from './request.ts';
import type { State } from './state.ts';

export interface LicensingWorld {
  readonly state: State;
  readonly clock: Clock;
  readonly shape: LicenseShape;
  /** What lists do not show yet. */
  readonly lag: Lag;
  /** Where lists show licenses that move. */
  readonly motion: Motion;
  readonly allowance: Allowance;
  /** Calls of an application a minute; undefined: as many as it likes. */
  readonly perMinute: number | undefined;
}

interface LicensingCall extends LicensingWorld {
  readonly request: SandboxRequest;
  /** The application that the API key belongs to. */
  readonly app_code: number;
  /** The license code in the path. */
  readonly code: string;
}

type Step = (call: LicensingCall) => SandboxAnswer;

type Resource = ReturnType<typeof resource>;

const routes = [
  resource(/^\/v1\/license\/$/, { GET: listLicenses, POST: create }),
  resource(/^\/v1\/license\/([^/]+)\/$/, { GET: view, PUT: replace, PATCH: update }),
  resource(/^\/v1\/first-activation\/$/, { GET: firstActivation }),
];

function resource(pattern: RegExp, methods: Readonly<Record<string, Step>>) {
  /** The header that names the methods. */
  const allow = [...Object.keys(methods), ...('GET' in methods ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  return { pattern, methods, allow };
}

/**
 * The answer of the licensing service. The specification says nothing of its errors and little of its answers; this is our model
 * of an ordinary Django REST framework service:
 * - a path without its last slash is unknown: a 404 page, for every method (no APPEND_SLASH);
 * - credentials are checked before the method (401 before 405), as that framework does;
 * - writing for another application is 403; another application's licenses are not seen (404, or an empty list);
 * - names are not unique: the same user may get several licenses;
 * - the limit of activations is not modelled, since its numbers are not published.
 */
export function answerLicensing(world: LicensingWorld, request: SandboxRequest): SandboxAnswer {
  for (const known of routes) {
    const match = known.pattern.exec(request.path);
    if (match) return guarded(world.shape, () => run(world, request, known, match[1] ?? ''));
  }
  return unknownPage();
}

function guarded({ error }: LicenseShape, work: () => SandboxAnswer): SandboxAnswer {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Unacceptable)) throw cause;
    if (error !== undefined) return json(200, errorBody(reasonOf(cause.body), error));
    return json(cause.status, cause.body, cause.headers);
  }
}

/** The first text in a body of reasons. */
function reasonOf(body: unknown): string {
  const texts = typeof body === 'object' && body !== null ? Object.values(body).flat() : [];
  return String(texts[0] ?? 'Something went wrong.');
}

function run(world: LicensingWorld, request: SandboxRequest, { methods, allow }: Resource, code: string) {
  const app_code = appOf(request.headers.authorization);
  throttle(world, app_code);
  const step = methods[request.method === 'HEAD' ? 'GET' : request.method];
  if (request.method === 'OPTIONS') return json(200, { name: 'License', renders: ['application/json'] }, { allow });
  if (!step) return json(405, { detail: `Method "${request.method}" not allowed.` }, { allow });
  const { status, headers, body } = step({ ...world, request, app_code, code });
  return { status, headers: { allow, vary: 'Accept', ...headers }, body };
}

/** @throws Unacceptable 401 */
function appOf(header: string | undefined): number {
  const words = (header ?? '').split(' ').filter((word) => word !== '');
  if (words[0]?.toLowerCase() !== 'token') throw unauthenticated('Authentication credentials were not provided.');
  if (words.length === 1) throw unauthenticated('Invalid token header. No credentials provided.');
  if (words.length > 2) throw unauthenticated('Invalid token header. Token string should not contain spaces.');
  const app = sampleApps.find(({ api_key }) => api_key === words[1]);
  if (!app) throw unauthenticated('Invalid token.');
  return app.app_code;
}

function unauthenticated(detail: string): Unacceptable {
  return new Unacceptable(401, { detail }, { 'www-authenticate': 'Token' });
}

/** @throws Unacceptable 429 */
function throttle({ allowance, clock, perMinute }: LicensingWorld, app_code: number): void {
  if (perMinute === undefined) return;
  const { wait } = allowance(`application ${app_code}`, [{ calls: perMinute, span: 60_000 }], clock.now());
  if (wait === undefined) return;
  const seconds = Math.ceil(wait);
  const detail = `Request was throttled. Expected available in ${seconds} seconds.`;
  throw new Unacceptable(429, { detail }, { 'retry-after': String(seconds) });
}

function create(call: LicensingCall): SandboxAnswer {
  const fields = readLicense(call, 'whole');
  const license = { license_code: newLicenseCode(call.state), ...fields, created: timeText(call.clock.now()) };
  keep(call, undefined, license);
  return answerWrite(call, undefined, license);
}

function keep({ state, lag }: LicensingCall, before: LicenseRecord | undefined, after: LicenseRecord): void {
  state.licenses.put(after.license_code, after);
  lag.note(after.license_code, before);
}

function answerWrite(call: LicensingCall, before: LicenseRecord | undefined, after: LicenseRecord): SandboxAnswer {
  const { state, app_code, shape, request } = call;
  const other = (): LicenseRecord | undefined =>
    state.licenses.rows().find((license) => license.app_code === app_code && license.remote_user !== after.remote_user);
  const sent = sentName(request) ?? after.remote_user;
  const write = { before, after, other, sent, shape, origin: request.origin };
  return writeShapeOf(shape).answer({ ...write, status: before ? 200 : 201 });
}

/** RFC 3339 with whole seconds. */
function timeText(time: Milliseconds): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

function view(call: LicensingCall): SandboxAnswer {
  return json(200, bodyOf(licenseOf(call), call.shape));
}

function replace(call: LicensingCall): SandboxAnswer {
  return change(call, licenseOf(call), readLicense(call, 'whole'));
}

function update(call: LicensingCall): SandboxAnswer {
  return change(call, licenseOf(call), readLicense(call, 'part'));
}

function change(call: LicensingCall, before: LicenseRecord, fields: Partial<LicenseInput>): SandboxAnswer {
  if (writeShapeOf(call.shape).ignoresChanges) return answerWrite(call, before, before);
  const after = { ...before, ...fields };
  keep(call, before, after);
  return answerWrite(call, before, after);
}

/** @throws Unacceptable 404 */
function licenseOf({ state, code, app_code }: LicensingCall): LicenseRecord {
  const license = state.licenses.get(code);
  if (license?.app_code !== app_code) throw new Unacceptable(404, { detail: 'Not found.' });
  return license;
}

/** The earliest license of the application that the sensor was activated with. */
function firstActivation({ state, request, app_code, shape }: LicensingCall): SandboxAnswer {
  const asked = request.query.get('app_code');
  if (asked !== null && !/^-?\d+$/.test(asked))
    throw new Unacceptable(400, { app_code: ['A valid integer is required.'] });
  const mac = request.query.get('mac_address');
  if (!mac) throw new Unacceptable(400, { mac_address: ['This field is required.'] });
  const licenses = state.activations
    .rows()
    .filter((row) => row.mac_address === hexadecimal(mac))
    .sort((one, other) => one.time - other.time)
    .map((row) => state.licenses.get(row.license_code))
    .filter((license) => license?.app_code === app_code && (asked === null || Number(asked) === app_code));
  const [first] = licenses;
  return first ? json(200, bodyOf(first, shape)) : neverActivated(shape);
}

function hexadecimal(mac: string): string {
  return mac.replace(/[^0-9a-f]/gi, '').toUpperCase();
}

function neverActivated({ noActivation = '404' }: LicenseShape): SandboxAnswer {
  if (noActivation === '404') return json(404, { detail: 'Not found.' });
  if (noActivation === 'empty') return empty(200);
  return { ...html(200, noActivation), headers: { 'content-type': 'application/json' } };
}
