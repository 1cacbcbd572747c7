import { formatDuration } from '../core/duration.ts';
import { Failure } from '../core/failure.ts';
import { urlOf } from '../schema/profile.ts';
import type { ChatCredential, LicensingCredential } from '../store/account/credentials.ts';
import { checkCredential } from './auth/account.ts';
import { command } from './command.ts';
import type { Accounts, Disk, Invocation, Ledgers, Services, ConfiguredLedger } from './context.ts';

export default command({
  about: [
    'Looks at configuration and file modes, at the credentials of the environment, and for every stored profile at its key, DNS, ' +
      'proxy, TLS, the clock, the credential and the feature level of the chat server; and at the shared ledger, where one is ' +
      'configured. The exit code is that of the first problem.',
  ],
  args: {
    name: {
      kind: 'string',
      many: true,
      placeholder: 'NAME',
      suggest: 'profiles',
      help: 'Profiles to look at (default: all)',
    },
  },
  options: {},
  examples: ['chatelaine --sandbox doctor'],

  async *run({ name: names = [] }, context) {
    const problems: Failure[] = [];
    const last: Check[] = [];
    let checks = 0;
    const chosen = names.length > 0 || context.options.profile === undefined ? names : [context.options.profile];
    for await (const check of examine(chosen, context)) {
      checks += 1;
      const row = { ...check.row, detail: context.clean(check.row.detail) };
      if (!check.failure) yield row;
      else {
        problems.push(check.failure);
        last.push(row);
      }
    }
    // Problems come last, where a person looks.
    yield* last;
    const [first] = problems;
    if (!first) {
      context.conclude(`${checks} checks: no problem`);
      return;
    }
    throw new Failure(
      first.kind,
      `${problems.length} problem${problems.length === 1 ? '' : 's'} found: ${first.message}`,
      first.details,
    );
  },

  show: {
    columns: ['check', 'subject', 'status', 'detail', 'advice'],
    line: ({ check, subject, status, detail, advice }) =>
      `${marks[status]} ${check}, ${subject}: ${detail}${advice === null ? '' : `. ${advice}`}`,
  },
});

const marks = { ok: '✔', note: '!', problem: '✘' } as const;

type Examining = Invocation & Services & Accounts & Disk & Ledgers;

async function* examine(names: readonly string[], context: Examining): AsyncGenerator<Examined> {
  const { config } = context.files();
  const stored = yield* attempt(
    'configuration',
    config,
    async () => (await context.profiles().all()).map(({ name }) => name),
    (all) => `${all.length} profile${all.length === 1 ? '' : 's'}`,
  );
  const environment = yield* attempt(
    'environment',
    'CHATELAINE_…',
    async () => context.environmentKinds(),
    (kinds) => (kinds.length === 0 ? 'no credential' : `complete: ${kinds.join(', ')}`),
  );
  const chosen = names.length > 0 ? names : (stored ?? []);
  if (stored && names.length === 0) yield* examineLedgers(context);
  if (context.options.sandbox) {
    yield* examineSandbox(context);
    return;
  }
  for (const kind of names.length > 0 ? [] : (environment ?? [])) {
    yield* examineAccount(
      `environment ${kind}`,
      () => (kind === 'chat' ? context.chatAccount() : context.licensingAccount()),
      context,
    );
  }
  for (const name of chosen) yield* examineAccount(name, () => context.credentialOf(name), context);
  if (chosen.length + (environment?.length ?? 0) === 0) yield nothingStored(config);
}

async function* examineSandbox(context: Examining): AsyncGenerator<Examined> {
  yield* examineAccount('sandbox licensing', () => context.licensingAccount(), context);
  yield* examineAccount('sandbox chat', () => context.chatAccount(), context);
}

function nothingStored(subject: string): Examined {
  return {
    row: {
      check: 'configuration',
      subject,
      status: 'note',
      detail: 'no credential is stored',
      advice: 'Run chatelaine auth login, or try --sandbox.',
    },
  };
}

/** From the key outwards; what a step needs that failed is not tried. */
async function* examineAccount(
  subject: string,
  open: () => Promise<LicensingCredential | ChatCredential>,
  context: Services,
): AsyncGenerator<Examined> {
  const credential = yield* attempt('key', subject, open, ({ read_only }) =>
    read_only ? 'found, read-only' : 'found',
  );
  if (!credential) return;
  const url = urlOf(credential);
  const reached = yield* attempt(
    'network',
    new URL(url).host,
    () => context.reach(credential.kind === 'chat' ? `${url}/api/v1/server_settings` : `${url}/v1/license/`),
    ({ proxy }) => (proxy === undefined ? 'reached' : `reached through the proxy ${proxy}`),
  );
  if (!reached) return;
  if (reached.skew !== undefined) yield clockCheck(new URL(url).host, reached.skew);
  const accepted = yield* attempt(
    'credential',
    subject,
    async () => checkCredential(credential, context).then(() => true),
    () => 'accepted',
  );
  if (accepted && credential.kind === 'chat') yield levelCheck(subject, await context.chatAs(credential).level());
}

function levelCheck(subject: string, level: number | undefined): Examined {
  const status = level === undefined ? 'note' : 'ok';
  const detail = level === undefined ? 'the server does not report its level: the newest is assumed' : `level ${level}`;
  return { row: { check: 'feature level', subject, status, detail, advice: null } };
}

/** Certificates and retry-after dates go wrong when the clock is off by more. */
const mostSkew = 120_000;

function clockCheck(subject: string, skew: number): Examined {
  const off = `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the server`;
  if (Math.abs(skew) <= mostSkew)
    return { row: { check: 'clock', subject, status: 'ok', detail: 'agrees with the server', advice: null } };
  return { row: { check: 'clock', subject, status: 'note', detail: off, advice: 'Set the clock of this machine.' } };
}

/** Whether each configured ledger can be reached and used. */
async function* examineLedgers({ ledgers }: Ledgers): AsyncGenerator<Examined> {
  let configured: readonly ConfiguredLedger[];
  try {
    configured = await ledgers();
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    yield problem('ledger', 'CHATELAINE_LEDGER', cause);
    return;
  }
  for (const { source, ledger } of configured) {
    yield* attempt(
      'ledger',
      source,
      () => ledger.examine(),
      () => 'reached',
    );
  }
}

/** One thing that was looked at. */
interface Check {
  readonly check:
    'configuration' | 'environment' | 'key' | 'network' | 'clock' | 'credential' | 'feature level' | 'ledger';
  /** The profile, file or host that it is about. */
  readonly subject: string;
  readonly status: 'ok' | 'note' | 'problem';
  readonly detail: string;
  /** What to do. */
  readonly advice: string | null;
}

/** A thing that was looked at, with the failure where it is a problem. */
interface Examined {
  readonly row: Check;
  readonly failure?: Failure;
}

/** Looks at something, and yields what came of it. Returns what was found; undefined where it is a problem. @throws Failure of an interruption */
async function* attempt<T>(
  check: Check['check'],
  subject: string,
  look: () => Promise<T>,
  tell: (found: T) => string,
): AsyncGenerator<Examined, T | undefined> {
  try {
    const found = await look();
    yield { row: { check, subject, status: 'ok', detail: tell(found), advice: null } };
    return found;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    yield problem(check, subject, cause);
    return undefined;
  }
}

/** A row of a problem. */
function problem(check: Check['check'], subject: string, failure: Failure): Examined {
  const row = {
    check,
    subject,
    status: 'problem',
    detail: failure.message,
    advice: failure.details.hint ?? null,
  } as const;
  return { row, failure };
}
