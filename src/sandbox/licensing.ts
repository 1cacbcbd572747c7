import { json, unknownPage, type SandboxAnswer } from './answer.ts';
import { newLicenseCode } from './sample/organization.ts';
import {
  authenticate,
  throttle,
  Unacceptable,
  type LicensingCall,
  type LicensingService,
} from './licensing/licensing-call.ts';
import { readLicense } from './licensing/input.ts';
import { listLicenses } from './licensing/list.ts';
import type { LicenseRecord } from './records.ts';
import type { SandboxRequest } from './request.ts';

interface Resource {
  readonly pattern: RegExp;
  readonly methods: Readonly<Record<string, (call: LicensingCall) => SandboxAnswer>>;
}

const routes: readonly Resource[] = [
  {
    pattern: /^\/v1\/license\/$/,
    methods: {
      GET: listLicenses,
      POST(call) {
        const fields = readLicense(call, 'whole');
        const created = new Date(call.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
        const license = { license_code: newLicenseCode(call.state), ...fields, created };
        keep(call, undefined, license);
        return json(201, license);
      },
    },
  },
  {
    pattern: /^\/v1\/license\/([^/]+)\/$/,
    methods: {
      GET: (call) => json(200, licenseOf(call)),
      PUT: (call) => change(call, licenseOf(call), readLicense(call, 'whole')),
      PATCH: (call) => change(call, licenseOf(call), readLicense(call, 'part')),
    },
  },
  { pattern: /^\/v1\/first-activation\/$/, methods: { GET: firstActivation } },
];

/**
 * The answer of the licensing service. The specification says nothing of its errors and little of its answers; this is
 * our model of an ordinary Django REST framework service:
 * - a path without its last slash is unknown: a 404 page, for every method (no APPEND_SLASH);
 * - credentials are checked before the method (401 before 405), as that framework does;
 * - writing for another application is 403; another application's licenses are not seen (404, or an empty list);
 * - names are not unique: the same user may get several licenses;
 * - the limit of activations is not modelled, since its numbers are not published.
 */
export function answerLicensing(service: LicensingService, request: SandboxRequest): SandboxAnswer {
  const answer = (one: SandboxRequest): SandboxAnswer => answerItself(service, one);
  return service.front ? service.front(request, answer) : answer(request);
}

function answerItself(service: LicensingService, request: SandboxRequest): SandboxAnswer {
  for (const known of routes) {
    const match = known.pattern.exec(request.path);
    if (!match) continue;
    try {
      return run(service, request, known, match[1] ?? '');
    } catch (cause) {
      if (!(cause instanceof Unacceptable)) throw cause;
      return json(cause.status, cause.body, cause.headers);
    }
  }
  return unknownPage();
}

function run(service: LicensingService, request: SandboxRequest, { methods }: Resource, code: string): SandboxAnswer {
  const allow = [...Object.keys(methods), ...('GET' in methods ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const app_code = authenticate(request);
  throttle(service, app_code);
  const step = methods[request.method === 'HEAD' ? 'GET' : request.method];
  if (request.method === 'OPTIONS') return json(200, { name: 'License', renders: ['application/json'] }, { allow });
  if (!step) return json(405, { detail: `Method "${request.method}" not allowed.` }, { allow });
  const { status, headers, body } = step({ ...service, request, app_code, code });
  return { status, headers: { allow, vary: 'Accept', ...headers }, body };
}

function keep({ state, lag }: LicensingCall, before: LicenseRecord | undefined, after: LicenseRecord): void {
  state.licenses.put(after.license_code, after);
  lag.note(after.license_code, before);
}

function change(call: LicensingCall, before: LicenseRecord, fields: Partial<LicenseRecord>): SandboxAnswer {
  if (call.shape.write_shape === 'nothing') return json(200, { message: 'Saved.' });
  const after = { ...before, ...fields };
  keep(call, before, after);
  return json(200, after);
}

/** @throws Unacceptable 404 */
function licenseOf({ state, code, app_code }: LicensingCall): LicenseRecord {
  const license = state.licenses.get(code);
  if (license?.app_code !== app_code) throw new Unacceptable(404, { detail: 'Not found.' });
  return license;
}

/** The earliest license of the application that the sensor was activated with. */
function firstActivation({ state, request, app_code }: LicensingCall): SandboxAnswer {
  const asked = request.query.get('app_code');
  if (asked !== null && !/^-?\d+$/.test(asked))
    throw new Unacceptable(400, { app_code: ['A valid integer is required.'] });
  const mac = request.query.get('mac_address');
  if (!mac) throw new Unacceptable(400, { mac_address: ['This field is required.'] });
  const licenses = state.activations
    .rows()
    .filter((row) => row.mac_address === mac.replace(/[^0-9a-f]/gi, '').toUpperCase())
    .sort((one, other) => one.time - other.time)
    .map((row) => state.licenses.get(row.license_code))
    .filter((license) => license?.app_code === app_code && (asked === null || Number(asked) === app_code));
  const [first] = licenses;
  return first ? json(200, first) : json(404, { detail: 'Not found.' });
}
