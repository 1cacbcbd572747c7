import type { Connection, KeyVariable, PlannedCall, Send, WireEvent } from '../api/http/call.ts';
import { connect } from '../api/http/connect.ts';
import type { LicensingConnection } from '../api/licensing/license-answer.ts';
import { openGate, openServerClock } from '../api/http/retry.ts';
import { isTrouble } from '../api/http/transport-error.ts';
import { urlOf, variableOf, kinds, type Profile } from '../schema/profile.ts';
import { isExposed, serverOf } from '../schema/url.ts';
import {
  type ChatCredential,
  environmentCredential,
  type Holder,
  type LicensingCredential,
  Credentials,
  refuseReadOnly,
} from '../store/account/credentials.ts';
import { defaultRetries, isGuarded, unknownVariables } from '../commands/environment.ts';
import type { Accounts, Keys } from '../commands/context.ts';
import { Secret } from '../core/secret.ts';
import { namesIn } from '../core/table-names.ts';
import type { Clock } from '../core/system.ts';
import { readHeaderLines, keyFrom, readKeyFile, readSecretFile } from '../store/account/secrets.ts';
import { openProfiles } from '../store/account/profiles.ts';
import { canOthersRead } from '../store/disk/private.ts';
import { observer, openLog } from './trace.ts';
import { keyHider } from './typed.ts';
import type { RunParts } from './values.ts';
import { isInteractive, readInputLine, readInputText } from './input.ts';
import { truncate } from './messages.ts';
import type { EmbeddedSandbox } from './sandbox.ts';

export type Connections = ReturnType<typeof openConnections>;

/** Bytes; only an attached file may be longer. */
const bodyLimit = 64 * 1024 * 1024;

/** All share one rate gate. @param plan takes the requests that a dry run does not send */
export function openConnections(running: RunParts, plan: (call: PlannedCall) => void, unanswered: () => void) {
  let hasWritten = false;
  const shared = { ...sharedBy(running), unanswered, plan: running.options.dry_run ? plan : undefined };
  const { ca_file: chosenFile } = running.options;
  const trusts = new Map<string | undefined, Connection['surroundings']>();
  /** What requests to the account's server have besides its key. */
  const routeOf = ({ ca_file, headers = {} }: Pick<Holder & Profile, 'ca_file' | 'headers'>) => {
    const caFile = chosenFile || ca_file;
    // One object for each file of authorities, since connections are kept by it.
    const surroundings = trusts.get(caFile) ?? { env: running.host.system.env, caFile };
    trusts.set(caFile, surroundings);
    Object.values(headers).forEach(redactor.watch);
    return { surroundings, headers };
  };
  const { redactor, messages } = running;
  const nobody = { authorization: undefined, key: undefined, sealed: false, readOnly: false };
  const unauthenticated = () => ({ ...shared, ...nobody, plan: undefined });
  const named = new Set<string>();
  const nameExposed = (url: string): void => {
    if (!isExposed(url) || named.has(url)) return;
    named.add(url);
    messages.note(`${url} is not encrypted: others on the network can read the key and everything else that is sent`);
  };
  const signedIn = (credential: LicensingCredential | ChatCredential): Send => {
    nameExposed(urlOf(credential));
    return connect({
      ...shared,
      ...routeOf(credential),
      observe(event) {
        // What is not refused may have been carried out, and be found by a lookup.
        if (event.kind === 'answer')
          hasWritten ||= !event.isRead && (event.answer.status < 400 || isTrouble(event.answer.status));
        hasWritten ||= event.kind === 'failure' && event.method !== 'GET';
        shared.observe(event);
      },
      base: urlOf(credential),
      authorization: redactor.watch(credential.key).framed((key) => {
        if (credential.kind === 'licensing') return `Token ${key}`;
        return `Basic ${Buffer.from(`${credential.email}:${key}`).toString('base64')}`;
      }),
      key: keyVariable(credential, running),
      sealed: credential.kind === 'licensing',
      readOnly: credential.read_only ?? false,
    });
  };
  return {
    licensing: (credential: LicensingCredential): LicensingConnection => ({
      send: signedIn(credential),
      key_field: credential.key_field,
    }),
    /** `sendUnauthenticated`: for the one call that needs no account. */
    chat: (credential: ChatCredential) => ({
      send: signedIn(credential),
      sendUnauthenticated: connect({ ...unauthenticated(), ...routeOf(credential), base: credential.site }),
    }),
    presume(limits: Required<Pick<RunParts['options'], 'retries' | 'timeout'>>) {
      shared.retries = running.options.retries ?? limits.retries;
      shared.timeout ??= limits.timeout;
    },
    hasWritten: () => hasWritten,
    serverNow: shared.serverNow,
    /** Sends without a credential; no body of an answer is shown. */
    open: (base: string, account: Parameters<typeof routeOf>[0]): Send =>
      connect({ ...unauthenticated(), ...routeOf(account), base, sealed: true }),
  };
}

/** The variable that holds the key already, or one of the profile's name; and the lines that set what is not set. */
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

/** Two profiles never share a variable: one's key would go to the other's server. No name begins with a dash. */
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

/** The parts of a context that choose credentials, none that is read-only for a write, and read keys. */
export function openAccounts(running: RunParts, sandbox: EmbeddedSandbox, aim: 'read' | 'write'): Accounts & OwnKeys {
  const { host, options, redactor, signal } = running;
  const { system } = host;
  let hide: ReturnType<typeof keyHider> | undefined;
  // A wait for the lock of the configuration ends with the command.
  const clock: Clock = { ...host.clock, sleep: (span, given = signal) => host.clock.sleep(span, given) };
  const profiles = openProfiles(system, clock);
  const { refuseUnknown } = profiles;
  // A dry run changes nothing that is stored; a name that is not known is refused all the same.
  const unchanged = { save: () => Promise.resolve(), use: refuseUnknown, remove: refuseUnknown };
  const shownProfiles = options.dry_run ? { ...profiles, ...unchanged } : profiles;
  const runKeyCommand = keyCommandRunner(running);
  const credentials = new Credentials(system, profiles, runKeyCommand, signal);
  const chosen = { profile: options.profile, typed: options.typed.has('profile') };
  const source = options.sandbox ? sandbox : credentials;
  const isReadOnly = isGuarded(system.env, 'CHATELAINE_READ_ONLY');
  const places = new Set<string>();
  const noted = async <C extends LicensingCredential | ChatCredential>(found: Promise<C>): Promise<C> => {
    const account = await found;
    const { kind, profile } = account;
    const isStored = profile !== undefined && !options.sandbox;
    if (isStored && (await profiles.all()).filter((one) => one.kind === kind).length > 1)
      places.add(`${new URL(urlOf(account)).host}, profile ${profile}`);
    const credential = isReadOnly ? { ...account, read_only: true } : account;
    if (aim === 'write') refuseReadOnly(credential);
    return credential;
  };
  return {
    licensingAccount: (choice) => noted(source.licensing({ ...chosen, ...choice })),
    chatAccount: () => noted(source.chat(chosen)),
    accounts: {
      licensingApps: () => source.licensingApps(),
      places: () => [...places],
      unknownVariables: () => unknownVariables(system.env),
      environmentKinds: () => namesIn(kinds).filter((kind) => environmentCredential(system.env, kind)),
      profiles: () => shownProfiles,
      async credentialOf(name) {
        const profile = await profiles.find(name);
        return profile?.kind === 'chat'
          ? credentials.chat({ profile: name })
          : credentials.licensing({ profile: name });
      },
      identityOf: (account) =>
        options.sandbox ? 'sandbox' : serverOf('site' in account ? account.site : account.base_url),
    },
    keys: {
      fromFile: async (file) => redactor.watch(await readKeyFile(file, '--api-key-file', system, signal)),
      fromInput: async () => redactor.watch(keyFrom(await readInputLine(running), 'standard input')),
      fromCommand: runKeyCommand,
      async headers(file) {
        const text =
          file === '-'
            ? await readInputText(running, file)
            : await readSecretFile(file, '--header-file', system, signal);
        return readHeaderLines(text, file === '-' ? 'standard input' : file);
      },
      othersCanRead: (file) => canOthersRead(file, system),
    },
    secrets: {
      hide: (text) => redactor.watch(new Secret(text)),
      clean: (text) => truncate((hide ??= keyHider(running.typed))(redactor.clean(text))),
    },
  };
}

type OwnKeys = Pick<Keys, 'secrets'> & { readonly keys: Omit<Keys['keys'], 'fromPassword'> };

function keyCommandRunner({ host, options, messages, redactor, signal }: RunParts): Keys['keys']['fromCommand'] {
  return async (command) => {
    const { runKeyCommand } = await import('../store/account/key-command.ts');
    const verbose = options.verbose ? messages.note : undefined;
    // Its input is ours: what a pipe holds is not for it.
    const interactive = host.stdin.isTTY === true && isInteractive(host, options);
    const { system, alarm } = host;
    return redactor.watch(await runKeyCommand(command, { system, alarm, signal, verbose, interactive }));
  };
}
