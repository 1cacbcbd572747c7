import { quantity } from '../core/duration.ts';
import { Failure, unless } from '../core/failure.ts';
import { commandsApart, hintCommand } from '../output/plain.ts';
import { candidatesOf, profilesArgument, type Candidate } from './auth/account.ts';
import { accountStatus } from './auth/auth-status.ts';
import { command } from './command.ts';
import type { Accounts, Disk, Invocation, Keys, Ledgers, Services, Time } from './context.ts';

export default command({
  about: [
    'Checks the configuration and its file modes, the folder of records and archives, the credentials of the environment, and the shared ' +
      'ledger, if there is one; then each credential at its server, as auth status does: DNS, proxy, TLS, the clock, the key, and the feature level ' +
      'of a chat server (the number of its API, which grows with each change). Each server gets one request of at most ten seconds (--retries, --timeout). It exits with the code of the first problem.',
  ],
  args: { name: { ...profilesArgument, help: 'Profiles to check (default: all)' } },
  examples: ['chatelaine --sandbox doctor', 'chatelaine --sandbox doctor -o json'],

  async *rows({ name: names = [] }, context) {
    context.servers.presume({ retries: 0, timeout: 10_000 });
    const problems: Check[] = [];
    let checks = 0;
    const chosen = names.length > 0 || context.options.profile === undefined ? names : [context.options.profile];
    for await (const check of examine(chosen, context)) {
      checks += 1;
      if (check.failure) problems.push(check);
      else yield rowOf(check, context);
    }
    // Problems come last, where a person looks.
    for (const check of problems) yield rowOf(check, context);
    const first = problems[0]?.failure;
    if (first)
      throw new Failure(first.kind, `${quantity(problems.length, 'problem')} found: ${first.message}`, first.details);
    context.conclude(`${checks} checks: no problem`);
  },

  show: {
    columns: ['check', 'subject', 'status', 'detail', 'advice'],
    line: ({ check, subject, status, detail, advice }) =>
      `${marks[status]} ${check}, ${subject}: ${advice === null ? detail : `${detail.replace(/\.$/, '')}. ${commandsApart(advice, hintCommand)}`}`,
  },
});

/** The row of a check, without any secret. */
function rowOf({ failure: _, subject, detail, advice, ...check }: Check, { secrets: { clean } }: Keys) {
  return { ...check, subject: clean(subject), detail: clean(detail), advice: advice && clean(advice) };
}

const marks = { ok: '✔', note: '!', problem: '✘' } as const;

type DoctorParts = Invocation & Services & Accounts & Keys & Time & Disk & Ledgers;

async function* examine(names: readonly string[], context: DoctorParts): AsyncGenerator<Check> {
  const { config, state } = context.disk.files();
  // With a credential in the environment, a configuration that cannot be read is only a note.
  const isNeeded = names.length > 0 || !unless(Failure, context.accounts.environmentKinds)?.length;
  const stored = yield* attempt(
    'configuration',
    config,
    async () => (await context.accounts.profiles().all()).map(({ name }) => name),
    (all) => quantity(all.length, 'profile'),
    isNeeded ? 'problem' : 'note',
  );
  yield* attempt('state', state, context.disk.refuseUnwritableState, () => 'can be written');
  const environment = yield* attempt(
    'environment',
    'CHATELAINE_…',
    async () => context.accounts.environmentKinds(),
    (kinds) => (kinds.length === 0 ? 'no credential' : `complete: ${kinds.join(', ')}`),
  );
  for (const { name, meant } of context.accounts.unknownVariables()) {
    const advice = meant === undefined ? null : `Did you mean ${meant}?`;
    yield report('environment', name, 'note', 'is not a variable of chatelaine', advice);
  }
  if (stored && names.length === 0) yield* examineLedgers(context);
  const accounts = await candidatesOf(names, context, { stored: stored ?? [], kinds: environment ?? [] });
  for (const account of accounts) yield examineAccount(account, context);
  if (accounts.length > 0 || !stored) return;
  const advice = 'See chatelaine auth login --help, or try --sandbox.';
  yield report('configuration', config, 'note', 'no credential is stored', advice);
}

async function examineAccount(candidate: Candidate, context: DoctorParts): Promise<Check> {
  const { row, failure } = await accountStatus(candidate, context);
  const { status, detail, advice } = row;
  const { subject } = candidate;
  if (failure) return { ...report('credential', subject, 'problem', detail ?? status, advice), failure };
  const accepted = detail === null ? 'accepted' : `accepted, ${detail}`;
  return report('credential', subject, advice === null ? 'ok' : 'note', accepted, advice);
}

async function* examineLedgers({ ledgers }: Ledgers): AsyncGenerator<Check> {
  const examine = async (): Promise<string | undefined> => {
    const ledger = await ledgers.any();
    await ledger?.examine();
    return ledger && 'reached';
  };
  yield* attempt('ledger', 'in use', examine, (found) => found);
}

interface Check {
  readonly check: string;
  /** The profile, file or host that was checked. */
  readonly subject: string;
  readonly status: 'ok' | 'note' | 'problem';
  readonly detail: string;
  readonly advice: string | null;
  readonly failure?: Failure;
}

/** Does a check and yields its row, or none where `describe` returns undefined. @throws Failure of an interruption */
async function* attempt<T>(
  check: string,
  subject: string,
  work: () => Promise<T>,
  describe: (found: T) => string | undefined,
  failed: 'problem' | 'note' = 'problem',
): AsyncGenerator<Check, T | undefined> {
  try {
    const found = await work();
    const detail = describe(found);
    if (detail !== undefined) yield report(check, subject, 'ok', detail);
    return found;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    const row = report(check, subject, failed, cause.message, cause.details.hint);
    yield failed === 'problem' ? { ...row, failure: cause } : row;
    return undefined;
  }
}

function report(check: string, subject: string, status: Check['status'], detail: string, advice: string | null = null) {
  return { check, subject, status, detail, advice };
}
