import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { chatApi } from '../api/chat.ts';
import { connect } from '../api/http.ts';
import type { Connection, PlannedRequest, Send } from '../api/call.ts';
import { licensingApi } from '../api/licensing.ts';
import { openGate } from '../api/retry.ts';
import type { Context, GlobalValues } from '../commands/context.ts';
import { formatDuration } from '../core/duration.ts';
import { Failure } from '../core/failure.ts';
import { writeJson } from '../core/json.ts';
import { Secret } from '../core/secret.ts';
import { openCredentials, type ChatCredential, type LicensingCredential } from '../store/credentials.ts';
import { foldersOf } from '../store/folders.ts';
import type { JournalHeader } from '../store/journal.ts';
import { readKeyFile } from '../store/key-text.ts';
import { openProfiles } from '../store/profiles.ts';
import { originOf } from '../store/url.ts';
import { chatUnit, licensingUnit } from '../store/unit.ts';
import { readText } from './input.ts';
import type { Messages } from './messages.ts';
import { openProgress } from './progress.ts';
import { openPrompt } from './prompt.ts';
import type { Redactor } from './redactor.ts';
import { embeddedSandbox, sandboxControl } from './sandbox.ts';
import { observer } from './trace.ts';
import type { World } from './world.ts';

/** The real context of one command, and what `main` needs of it afterwards. */
export interface Session {
  readonly context: Context;
  /** Requests that a dry run would have sent. */
  readonly planned: readonly PlannedRequest[];
  close(): Promise<void>;
}

export interface Options extends GlobalValues {
  /** Whether --profile was typed, and is not its twin in the environment. */
  readonly profileTyped: boolean;
}

const bodyLimit = 64 * 1024 * 1024;
const defaultRetries = 5;

export function openSession(world: World, options: Options, messages: Messages, redactor: Redactor): Session {
  const { machine, clock } = world;
  const started = clock.now();
  const ending = endings(world, options);
  const { signal } = ending;
  const planned: PlannedRequest[] = [];
  const sandbox = embeddedSandbox(world);
  const shared = {
    userAgent: `chatelaine/${world.version} (${machine.platform}; ${process.arch}; node ${process.versions.node})`,
    clock,
    signal,
    gate: openGate(clock),
    retries: options.retries ?? defaultRetries,
    timeout: options.timeout,
    deadline: options.deadline === undefined ? undefined : started + options.deadline,
    bodyLimit: world.bodyLimit ?? bodyLimit,
    surroundings: { env: machine.env, caFile: options.ca_file },
    dispatcher: world.dispatcher,
    plan: options.dry_run ? (request: PlannedRequest) => void planned.push(request) : undefined,
    observe: observer(options, messages),
  };
  const profiles = openProfiles(machine, clock);
  const keyCommand = async (command: string): Promise<Secret> => {
    const { runKeyCommand } = await import('../store/key-command.ts');
    const verbose = options.verbose ? messages.note : undefined;
    return redactor.watch(
      await runKeyCommand(command, { machine, signal, verbose, interactive: isInteractive(world, options) }),
    );
  };
  const credentials = openCredentials(machine, clock, profiles, keyCommand);
  const prompt = openPrompt(world, () => isInteractive(world, options), signal);

  const line = (credential: LicensingCredential): { send: Send; key_field?: string | undefined } => {
    redactor.watch(credential.key);
    return { send: connect(licensingConnection(shared, credential)), key_field: credential.key_field };
  };
  const chatSend = (credential: ChatCredential): Send => {
    redactor.watch(credential.key);
    return connect(chatConnection(shared, credential));
  };

  const licensingAccount: Context['licensingAccount'] = async (choice = {}) =>
    options.sandbox
      ? (await sandbox.credentials()).licensing(choice)
      : credentials.licensing({ ...profileOf(options), ...choice });
  const chatAccount = async (): Promise<ChatCredential> =>
    options.sandbox ? (await sandbox.credentials()).chat() : credentials.chat(profileOf(options));

  const context: Context = {
    options,
    signal,
    licensingAccount,
    licensing: (choice) => licensingApi(once(async () => line(await licensingAccount(choice)))),
    licensingAs: (credential) => licensingApi(async () => line(credential)),
    chatAccount,
    chat: () => {
      const open = once(async () => chatConnections(await chatAccount()));
      return chatApi(
        async (call) => (await open()).send(call),
        async (call) => (await open()).sendUnauthenticated(call),
      );
    },
    chatAs: (credential) => {
      const { send, sendUnauthenticated } = chatConnections(credential);
      return chatApi(send, sendUnauthenticated);
    },
    licensingApps: async () =>
      options.sandbox ? (await sandbox.credentials()).licensingApps() : credentials.licensingApps(),
    environmentKinds: () => [
      ...(licensingUnit(machine.env) ? ['licensing' as const] : []),
      ...(chatUnit(machine.env) ? ['chat' as const] : []),
    ],
    profiles: () => profiles,
    credentialOf: async (name) => {
      const profile = await profiles.find(name);
      return profile?.kind === 'chat' ? credentials.chat({ profile: name }) : credentials.licensing({ profile: name });
    },
    keyFromFile: async (file) => redactor.watch(await readKeyFile(file, '--api-key-file', machine)),
    runKeyCommand: keyCommand,
    interactive: () => isInteractive(world, options),
    confirm: async (question) => (options.yes ? undefined : prompt.confirm(question)),
    ask: (question) => prompt.line(question),
    secret: async (question) => redactor.watch(await prompt.hidden(question)),
    hide: (text) => redactor.watch(new Secret(text)),
    read: (file) => readText(world, file),
    note: (text) => messages.note(text),
    warn: (text) => messages.warn(text),
    journal: async (header, file) => {
      const { openJournal } = await import('../store/journal.ts');
      return openJournal(file ?? journalFile(world, header), header, world, { signal });
    },
    identityOf: ({ base_url }) => (options.sandbox ? 'sandbox' : originOf(base_url)),
    claims: async (job, identity, app_code) => {
      const { openClaims } = await import('../store/claims.ts');
      return openClaims(`${identity} ${app_code}`, world, { job, signal, note: (text) => messages.note(text) });
    },
    progress: (label, total) => openProgress(world, options, messages, label, total),
    reach: async (url) => {
      const { reach } = await import('../api/reach.ts');
      const send = connect({
        ...shared,
        base: new URL(url).origin,
        authorization: undefined,
        sealed: true,
        readOnly: true,
        plan: undefined,
      });
      return reach(send, url, machine.env, clock);
    },
    files: () => ({ config: foldersOf(machine).config, state: foldersOf(machine).state }),
    sandbox: () => sandboxControl(world, signal, messages.note),
    now: () => clock.now(),
    sleep: (span) => clock.sleep(span, signal),
  };
  return {
    context,
    planned,
    async close() {
      ending.release();
      await sandbox.close();
    },
  };

  function chatConnections(credential: ChatCredential): { send: Send; sendUnauthenticated: Send } {
    const base = {
      ...shared,
      base: credential.site,
      sealed: false,
      readOnly: false,
      plan: undefined,
      authorization: undefined,
    };
    return { send: chatSend(credential), sendUnauthenticated: connect(base) };
  }
}

/** One journal for each job: its name is a hash of what the job is. */
function journalFile({ machine }: World, header: JournalHeader): string {
  const name = createHash('sha256').update(writeJson(header)).digest('hex').slice(0, 32);
  return join(foldersOf(machine).state, 'journals', `${name}.ndjson`);
}

type Shared = Omit<Connection, 'base' | 'authorization' | 'sealed' | 'readOnly'>;

function licensingConnection(shared: Shared, { base_url, key, read_only }: LicensingCredential): Connection {
  return {
    ...shared,
    base: base_url,
    authorization: key.framed((value: string) => `Token ${value}`),
    sealed: true,
    readOnly: read_only,
  };
}

function chatConnection(shared: Shared, { site, email, key, read_only }: ChatCredential): Connection {
  const authorization = key.framed((value: string) => `Basic ${Buffer.from(`${email}:${value}`).toString('base64')}`);
  return { ...shared, base: site, authorization, sealed: false, readOnly: read_only };
}

function profileOf({ profile, profileTyped }: Options): { profile: string | undefined; typed: boolean } {
  return { profile, typed: profileTyped };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function isInteractive({ stdin, stderr }: World, { input }: GlobalValues): boolean {
  return input !== false && stdin.isTTY === true && stderr.isTTY === true;
}

/** Ctrl-C, SIGTERM and the deadline as one signal. */
function endings(world: World, { deadline }: GlobalValues): { signal: AbortSignal; release: () => void } {
  if (deadline === undefined) return { signal: world.interrupt, release: () => undefined };
  const late = new AbortController();
  const reached = new Failure('unavailable', `the deadline of ${formatDuration(deadline)} was reached`, {
    hint: 'Run the command again, or give --deadline more.',
  });
  const timer = setTimeout(() => late.abort(reached), deadline);
  return { signal: AbortSignal.any([world.interrupt, late.signal]), release: () => clearTimeout(timer) };
}
