import type { Connection, KeyVariable, PlannedCall, Send, WireEvent } from '../api/http/call.ts';
import { connect } from '../api/http/connect.ts';
import type { LicensingConnection } from '../api/licensing/license-answer.ts';
import { warnOnce } from '../core/failure.ts';
import { openGate, openServerClock } from '../api/http/retry.ts';
import { isTrouble } from '../api/http/transport-error.ts';
import { urlOf, variableOf, type Profile } from '../schema/profile.ts';
import { isExposed } from '../schema/url.ts';
import type { ChatCredential, Holder, LicensingCredential } from '../store/account/credentials.ts';
import { defaultRetries } from '../commands/environment.ts';
import { observer, openLog } from './trace.ts';
import type { RunParts } from './values.ts';

/** The most bytes of a response; only an attached file may be longer. */
const bodyLimit = 64 * 1024 * 1024;

const exposed = 'others on the network can read the key and everything else that is sent';

const nobody = { authorization: undefined, key: undefined, readOnly: false, plan: undefined };

/** The parts of an account, besides its key, that requests to its server use. */
type Route = Pick<Holder & Profile, 'ca_file' | 'headers'>;

/** The connections of one run, which share one rate gate. */
export class Connections {
  readonly #running: RunParts;
  readonly #shared;
  readonly #trusts = new Map<string | undefined, Connection['surroundings']>();
  readonly #noteOnce: (text: string) => void;
  /** True once the server did not refuse a write: it may have been processed. */
  hasWritten = false;

  /** @param plan takes the requests that a dry run does not send */
  constructor(running: RunParts, plan: (call: PlannedCall) => void, unanswered: () => void) {
    this.#running = running;
    this.#noteOnce = warnOnce(running.messages.note);
    this.#shared = { ...sharedBy(running), unanswered, plan: running.options.dry_run ? plan : undefined };
  }

  licensing(credential: LicensingCredential): LicensingConnection {
    return { send: this.#signedIn(credential), key_field: credential.key_field };
  }

  /** `sendUnauthenticated`: for the one call that needs no account. */
  chat(credential: ChatCredential) {
    return { send: this.#signedIn(credential), sendUnauthenticated: this.open(credential.site, credential, 'shown') };
  }

  /** Sends without a credential; a trace shows the bodies of responses, or hides them. */
  open(base: string, account: Route, bodies: 'shown' | 'hidden'): Send {
    return connect({ ...this.#shared, ...nobody, ...this.#routeOf(account), base, sealed: bodies === 'hidden' });
  }

  presume(limits: Required<Pick<RunParts['options'], 'retries' | 'timeout'>>): void {
    this.#shared.retries = this.#running.options.retries ?? limits.retries;
    this.#shared.timeout ??= limits.timeout;
  }

  serverNow(): number | undefined {
    return this.#shared.serverNow();
  }

  #signedIn(credential: LicensingCredential | ChatCredential): Send {
    const base = urlOf(credential);
    if (isExposed(base)) this.#noteOnce(`${base} is not encrypted: ${exposed}`);
    return connect({
      ...this.#shared,
      ...this.#routeOf(credential),
      observe: (event) => {
        this.#noteWrite(event);
        this.#shared.observe(event);
      },
      base,
      authorization: this.#running.redactor.watch(credential.key).framed((key) => {
        if (credential.kind === 'licensing') return `Token ${key}`;
        return `Basic ${Buffer.from(`${credential.email}:${key}`).toString('base64')}`;
      }),
      key: keyVariable(credential, this.#running),
      sealed: credential.kind === 'licensing',
      readOnly: credential.read_only ?? false,
    });
  }

  #noteWrite(event: WireEvent): void {
    if (event.kind === 'answer')
      this.hasWritten ||= !event.isRead && (event.answer.status < 400 || isTrouble(event.answer.status));
    this.hasWritten ||= event.kind === 'failure' && event.method !== 'GET';
  }

  #routeOf({ ca_file, headers = {} }: Route) {
    const caFile = this.#running.options.ca_file || ca_file;
    // There is one object for each CA file, because connections are reused by this object's identity.
    const surroundings = this.#trusts.get(caFile) ?? { env: this.#running.host.system.env, caFile };
    this.#trusts.set(caFile, surroundings);
    Object.values(headers).forEach(this.#running.redactor.watch);
    return { surroundings, headers };
  }
}

/** The variable that holds the key in lines of curl, named after the profile, and the lines that set it. */
function keyVariable(credential: LicensingCredential | ChatCredential, { host }: RunParts): KeyVariable {
  const { kind, profile, headers } = credential;
  const user = kind === 'chat' ? { user: credential.email } : {};
  const variable = profile === undefined ? variableOf(kind, 'api_key') : ownVariable(profile);
  const token = `$(chatelaine auth token ${profile ?? kind}`;
  const setup = profile === undefined && host.system.env[variable] !== undefined ? [] : [`${variable}=${token})`];
  if (headers === undefined) return { ...user, variable, setup };
  return {
    ...user,
    variable,
    headers: `HEADERS_${variable}`,
    setup: [...setup, `HEADERS_${variable}=${token} --headers)`],
  };
}

/** A variable of its own for each profile: a shared one would send a key to another server. */
function ownVariable(profile: string): string {
  if (/^[a-z\d-]+$/i.test(profile)) return `KEY_${profile.replaceAll('-', '_')}`;
  return `KEY__${profile.replace(/[^a-z\d]/gi, (sign) => `_${sign.charCodeAt(0).toString(16)}`)}`;
}

function sharedBy(running: RunParts) {
  const { host, options, signal } = running;
  const { system, clock, alarm } = host;
  const serverClock = openServerClock(clock);
  const readClock = (event: WireEvent): void => {
    if (event.kind === 'answer') serverClock.read(event.answer);
  };
  const observers = [
    readClock,
    observer(running),
    ...(options.log === undefined ? [] : [openLog(options.log, running)]),
  ];
  return {
    userAgent: `chatelaine/${host.version} (${system.platform}; ${process.arch}; node ${process.versions.node})`,
    clock,
    alarm,
    signal,
    gate: openGate(clock),
    serverNow: serverClock.now,
    retries: options.retries ?? defaultRetries,
    timeout: options.timeout,
    deadline: options.deadline === undefined ? undefined : clock.elapsed() + options.deadline,
    bodyLimit: host.bodyLimit ?? bodyLimit,
    dispatcher: host.dispatcher,
    observe: (event: WireEvent) => observers.forEach((observe) => observe(event)),
  };
}
