import type { Clock } from '../../core/system.ts';
import type { Allowance } from '../allowance.ts';
import type { SandboxAnswer } from '../answer.ts';
import type { SandboxRequest } from '../request.ts';
import { sampleApps } from '../sample/organization.ts';
import type { State } from '../state.ts';
import type { LicenseShape } from './shapes.ts';
import type { createLag } from './visible.ts';

export interface LicensingService {
  readonly state: State;
  readonly clock: Clock;
  readonly shape: LicenseShape;
  readonly lag: ReturnType<typeof createLag>;
  /** Another server for tests, which is made of this one. */
  readonly front?: LicensingFront | undefined;
  readonly allowance: Allowance;
  /** Calls of an application a minute; undefined: as many as it likes. */
  readonly perMinute: number | undefined;
}

/** Answers a request in place of the service, whose own answers it can get. */
export type LicensingFront = (
  request: SandboxRequest,
  service: (request: SandboxRequest) => SandboxAnswer,
) => SandboxAnswer;

export interface LicensingCall extends LicensingService {
  readonly request: SandboxRequest;
  /** The application that the API key belongs to. */
  readonly app_code: number;
  /** The license code in the path. */
  readonly code: string;
}

/** An error answer of the licensing service. */
export class Unacceptable extends Error {
  override readonly name = 'Unacceptable';
  readonly status: number;
  readonly body: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: SandboxAnswer['headers'];

  constructor(status: number, body: Unacceptable['body'], headers: SandboxAnswer['headers'] = {}) {
    super(`licensing ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** The application that the API key belongs to. @throws Unacceptable 401 */
export function authenticate({ headers }: SandboxRequest): number {
  const refuse = (detail: string) => new Unacceptable(401, { detail }, { 'www-authenticate': 'Token' });
  const words = (headers.authorization ?? '').split(' ').filter((word) => word !== '');
  if (words[0]?.toLowerCase() !== 'token') throw refuse('Authentication credentials were not provided.');
  if (words.length === 1) throw refuse('Invalid token header. No credentials provided.');
  if (words.length > 2) throw refuse('Invalid token header. Token string should not contain spaces.');
  const app = sampleApps.find(({ api_key }) => api_key === words[1]);
  if (!app) throw refuse('Invalid token.');
  return app.app_code;
}

/** @throws Unacceptable 429 */
export function throttle({ allowance, clock, perMinute }: LicensingService, app_code: number): void {
  if (perMinute === undefined) return;
  const { wait } = allowance(`application ${app_code}`, [{ calls: perMinute, span: 60_000 }], clock.now());
  if (wait === undefined) return;
  const seconds = String(Math.ceil(wait));
  const detail = `Request was throttled. Expected available in ${seconds} seconds.`;
  throw new Unacceptable(429, { detail }, { 'retry-after': seconds });
}
