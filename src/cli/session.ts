import { setMaxListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { chatApi, fetchKey } from '../api/chat/chat.ts';
import type { PlannedCall } from '../api/http/call.ts';
import { licensingApi } from '../api/licensing/licensing.ts';
import type { AnyCommand } from '../commands/command.ts';
import { isGuarded } from '../commands/environment.ts';
import { commandTable, nouns } from '../commands/index.ts';
import type { Context, Accounts, Disk, Invocation, Services } from '../commands/context.ts';
import { once } from '../core/batch.ts';
import { formatDuration } from '../core/duration.ts';
import { checkZone } from '../core/moment.ts';
import { openRunHistory, RunLedgers, runNames } from '../jobs/license/run-ledgers.ts';
import { checkingPlaces } from '../jobs/messages/places.ts';
import type { Progress } from '../jobs/work/work-messages.ts';
import { foldersOf } from '../store/disk/folders.ts';
import { refuseUnwritable } from '../store/disk/private.ts';
import { openAccounts } from './accounts.ts';
import { Connections } from './connections.ts';
import { isInteractive, readBytes, readInputText } from './input.ts';
import { embeddedSandbox, sandboxControl } from './sandbox.ts';
import type { RunParts } from './values.ts';

/** The real context of one command, and what the run needs of it afterwards. */
export function openSession(
  running: RunParts,
  { name: command }: Pick<AnyCommand, 'name'>,
  checkFields: Context['checkFields'],
  aim: 'read' | 'write',
) {
  const { host, messages, signal } = running;
  const planned: PlannedCall[] = [];
  const concluded: string[] = [];
  const unfinished: (() => Promise<void>)[] = [];
  // One listener for each worker that waits is no leak: without this, Node warns on stderr from the eleventh on.
  setMaxListeners(0, signal);
  const sandbox = embeddedSandbox(host);
  const accounts = openAccounts(running, sandbox, aim, async (profile, password, headers) => {
    const send = connections.open(profile.site, { ...profile, headers }, 'hidden');
    return running.redactor.watch(await fetchKey(send, profile.email, password));
  });
  const isReadOnly = isGuarded(host.system.env, 'CHATELAINE_READ_ONLY');
  const run = { ...running, ...accounts.accounts, ...running.redactor, command, isReadOnly, runName: runNames() };
  const ledgers = new RunLedgers(run);
  const connections = new Connections(
    running,
    (call) => void planned.push(call),
    () => ledgers.unanswered(),
  );
  const context: Context = {
    ...invocationOf(running, checkFields),
    ...accounts,
    ...services(accounts, connections, running),
    sandbox: () => sandboxControl(running),
    ...questions(running, accounts.accounts),
    say: messages.say,
    note: messages.note,
    conclude: (text) => void concluded.push(text),
    warn: messages.warn,
    progress: (label, total) => openProgress(running, label, total),
    disk: diskOf(running),
    record: {
      ...openRunHistory(run, ledgers),
      untilWritten: (finish) => void unfinished.push(finish),
    },
    ledgers,
    clock: clockOf(running, connections),
  };
  return {
    context,
    planned,
    hasWritten: () => connections.hasWritten,
    concluded,
    conclusions: () => conclusionsWith(concluded, aim === 'write' ? accounts.accounts.places() : []),
    async finish(): Promise<void> {
      for (const finish of unfinished) await finish();
    },
    close: () => Promise.all([sandbox.close(), ledgers.close()]),
  };
}

function invocationOf({ options, signal, again }: RunParts, checkFields: Context['checkFields']): Invocation {
  return {
    options,
    signal,
    again,
    checkFields,
    program: {
      saveMemory: () => setFlagsFromString('--heap-growing-percent=15'),
      surface: async () => ({ nouns, commands: await Promise.all(commandTable.map(({ load }) => load())) }),
    },
  };
}

function clockOf({ host: { clock, system }, signal }: RunParts, connections: Connections): Context['clock'] {
  return {
    ...clock,
    sleep: (span) => clock.sleep(span, signal),
    checkZone: () => checkZone(system.env),
    serverNow: () => connections.serverNow(),
  };
}

/** Adds the places of the run to the first line, unless a line names them already. */
function conclusionsWith(concluded: readonly string[], places: readonly string[]): readonly string[] {
  const unnamed = places.filter((place) => !concluded.some((line) => line.includes(place.replace(/^.*, /, ''))));
  if (unnamed.length === 0) return concluded;
  const [first = '', ...others] = concluded;
  // The places go before the semicolon, behind which a line gives advice.
  return [first.replace(/^[^;]*/, (done) => `${done} on ${unnamed.join(' and ')}`.trimStart()), ...others];
}

/** The two services, whose credential is looked up when the first call is made. */
function services(
  accounts: Accounts,
  connections: Connections,
  { host: { clock }, signal }: RunParts,
): Omit<Services, 'sandbox'> {
  return {
    licensing(choice) {
      const open = once(async () => connections.licensing(await accounts.licensingAccount(choice)));
      return licensingApi(open, clock.random);
    },
    chat() {
      const open = once(async () => connections.chat(await accounts.chatAccount()));
      const chat = chatApi(
        async (call) => (await open()).send(call),
        async (call) => (await open()).sendUnauthenticated(call),
      );
      return checkingPlaces(chat, (span) => clock.sleep(span, signal));
    },
    servers: {
      presume: (limits) => connections.presume(limits),
      licensingAs: (credential) => licensingApi(async () => connections.licensing(credential), clock.random),
      chatAs(credential) {
        const { send, sendUnauthenticated } = connections.chat(credential);
        return chatApi(send, sendUnauthenticated);
      },
      send: async (service) =>
        service === 'chat'
          ? connections.chat(await accounts.chatAccount()).send
          : connections.licensing(await accounts.licensingAccount()).send,
    },
  };
}

function diskOf(running: RunParts): Disk['disk'] {
  const { host, signal } = running;
  return {
    read: (file) => readInputText(running, file),
    readBytes: (file) => readBytes(running, file),
    async archive(folder, patience) {
      const { openArchive } = await import('../store/archive/open-archive.ts');
      return openArchive(folder, host, { ...patience, signal });
    },
    files: () => foldersOf(host.system),
    refuseUnwritableState: () => refuseUnwritable(foldersOf(host.system).state, host.system),
  };
}

function questions(running: RunParts, { places }: Pick<Accounts['accounts'], 'places'>) {
  const { host, options, redactor, signal } = running;
  const prompt = once(async () => {
    const { openPrompt } = await import('./prompt.ts');
    return openPrompt(host, () => isInteractive(host, options), signal);
  });
  // The question of license apply names its profiles itself.
  const placed = (question: string): string =>
    [...places().filter((place) => !question.includes(place.replace(/^.*, /, ''))), question].join(': ');
  return {
    async confirm(question: string) {
      if (!options.yes) await (await prompt()).confirm(placed(question));
    },
    terminal: {
      canAsk: () => isInteractive(host, options),
      ask: async (question: string) => (await prompt()).line(placed(question)),
      secret: async (question: string) => redactor.watch(await (await prompt()).hidden(question)),
    },
  };
}

const redrawEvery = 100;
const lineEvery = 5000;

type ProgressParts = Pick<RunParts, 'host' | 'messages'> & { readonly options: Pick<RunParts['options'], 'output'> };

/** A redrawn line on a terminal, elsewhere a line every 5 s and a last one. */
export function openProgress({ host, options, messages }: ProgressParts, label: string, total: number): Progress {
  const { stdout, stderr, clock } = host;
  const isTerminal = stderr.isTTY === true && host.system.env['TERM'] !== 'dumb';
  // Rows that come one by one on the same terminal are progress enough.
  const rowsAreShown = stdout.isTTY === true && options.output !== undefined && options.output !== 'table';
  if (total === 0 || rowsAreShown) return { step: () => undefined, upTo: () => undefined, end: () => undefined };
  const started = clock.now();
  let last = started;
  let done = 0;
  let lastCount: number | undefined;

  const text = (): string => {
    const elapsed = Math.max(1, clock.now() - started);
    const rate = (done * 1000) / elapsed;
    // Earlier than that, the rate says nothing about the rest.
    const isSound = elapsed >= 5000 && done >= total * 0.03 && done < total;
    const remaining = isSound ? `, ${formatDuration(Math.ceil((total - done) / rate) * 1000)} left` : '';
    return `${label} ${done}/${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s${remaining}`;
  };
  const upTo = (count: number): void => {
    done = Math.min(count, total);
    const now = clock.now();
    if (now - last < (isTerminal ? redrawEvery : lineEvery)) return;
    last = now;
    lastCount = done;
    // A line that wraps could not be erased; some terminals report no width.
    if (isTerminal) messages.status(text().slice(0, (stderr.columns || 80) - 1));
    else messages.say(text());
  };
  return {
    step: () => upTo(done + 1),
    upTo,
    end() {
      if (isTerminal) messages.status(undefined);
      // The last line to stay has the final count.
      else if (lastCount !== undefined && lastCount !== done) messages.say(text());
      lastCount = undefined;
    },
  };
}
