import { Failure, ifAnswered } from '../../core/failure.ts';
import { whole } from '../../output/columns.ts';
import { commandsApart, hintCommand } from '../../output/plain.ts';
import { firstSignIn, namesOf, urlOf, type Profile } from '../../schema/profile.ts';
import type { ChatCredential, LicensingCredential } from '../../store/account/credentials.ts';
import { command } from '../command.ts';
import type { Accounts, Keys, Services, Time } from '../context.ts';
import { skewOf, skewText } from '../typed-time.ts';
import { candidatesOf, checkCredential, profilesArgument, type Candidate } from './account.ts';

export default command({
  about: [
    'Tries every stored profile, and the credentials of the environment; with --sandbox those of the embedded sandbox. Exit code 4 if one is refused.',
  ],
  args: { name: { ...profilesArgument, help: 'Profiles to check (default: all)' } },
  examples: ['chatelaine auth status'],

  async *rows({ name: names = [] }, context) {
    const chosen = names.length > 0 ? names : [context.options.profile ?? []].flat();
    // A word that names no profile may be a key, so it is refused before a row could show it.
    await context.accounts.profiles().refuseUnknown(chosen);
    const tried = await candidatesOf(chosen, context);
    if (tried.length === 0) throw new Failure('config', 'no credential is stored', { hint: firstSignIn });
    const failures: Failure[] = [];
    for (const candidate of tried) {
      const { row, failure } = await accountStatus(candidate, context);
      if (failure) failures.push(failure);
      yield row;
    }
    const worst = failures.find(({ kind }) => kind === 'auth') ?? failures[0];
    if (worst)
      throw new Failure(worst.kind, `${failures.length} of ${tried.length} credentials cannot be used`, {
        ...worst.details,
        hint: undefined,
      });
  },

  show: {
    columns: [
      ...whole('profile', 'kind', 'url', 'app_code', 'email'),
      'default',
      'read_only',
      'key',
      'status',
      { name: 'detail', width: 20 },
      'advice',
    ],
    line: statusLine,
  },
});

/** One credential, tried at its server: a row of `auth status`, and a line of `doctor`. */
interface AccountStatus {
  readonly profile: string;
  readonly kind?: string;
  readonly url?: string;
  readonly default: boolean | null;
  readonly read_only: boolean | null;
  readonly key: 'stored' | 'command' | 'environment' | 'sandbox' | 'unusable';
  readonly status: 'ok' | 'refused' | 'unreachable' | 'unusable' | 'failed';
  readonly detail: string | null;
  readonly advice: string | null;
}

type StatusParts = Services & Accounts & Keys & Time;

const statuses: Partial<Record<Failure['kind'], AccountStatus['status']>> = {
  auth: 'refused',
  unavailable: 'unreachable',
  config: 'unusable',
};

/** Tries a credential: its row, and the failure if it cannot be used. @throws Failure of an interruption */
export async function accountStatus(
  { name, open }: Candidate,
  context: StatusParts,
): Promise<{ readonly row: AccountStatus; readonly failure?: Failure }> {
  const profile = await ifAnswered(context.accounts.profiles().find(name));
  const defaults = await ifAnswered(context.accounts.profiles().defaults());
  let account: Omit<AccountStatus, 'status' | 'detail' | 'advice'> = {
    profile: name,
    ...(profile && { kind: profile.kind, url: urlOf(profile), ...namesOf(profile) }),
    default: profile && defaults ? defaults[profile.kind] === name : null,
    read_only: profile ? (profile.read_only ?? false) : null,
    key: 'unusable',
  };
  try {
    const credential = await open();
    const { kind, read_only = false } = credential;
    const key = keyPlaceOf(name, profile);
    account = { ...account, kind, url: urlOf(credential), ...namesOf(credential), read_only, key };
    await checkCredential(credential, context);
    const level = await levelNote(credential, context);
    const skew = skewOf(context.clock, mostSkew);
    const notes = [credential.read_only && 'read-only', level, skew !== 0 && skewText(skew)];
    const detail = notes.filter((note) => typeof note === 'string');
    const advice = skew === 0 ? null : 'Set the clock of this machine.';
    return { row: { ...account, status: 'ok', detail: detail.join(', ') || null, advice } };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    const { clean } = context.secrets;
    const [detail, advice] = [clean(cause.message), cause.details.hint ? clean(cause.details.hint) : null];
    return { row: { ...account, status: statuses[cause.kind] ?? 'failed', detail, advice }, failure: cause };
  }
}

function keyPlaceOf(name: string, profile: Profile | undefined): AccountStatus['key'] {
  if (!profile) return name === 'sandbox' ? 'sandbox' : 'environment';
  return profile.key_command === undefined ? 'stored' : 'command';
}

async function levelNote(credential: LicensingCredential | ChatCredential, { servers }: Services) {
  if (credential.kind !== 'chat') return undefined;
  const level = await servers.chatAs(credential).level();
  return level === undefined
    ? 'the server does not report its feature level: the newest is assumed'
    : `feature level ${level}`;
}

/** If the clock is off by more than this, certificates and retry-after dates are misjudged. */
const mostSkew = 120_000;

/** A line such as `✔ app, licensing, http://…, application 7 (default)`; a reason follows on the next lines. */
function statusLine(row: AccountStatus & { readonly app_code?: unknown; readonly email?: unknown }): string {
  const { profile, kind, url, app_code, email, status, detail, advice } = row;
  const application = typeof app_code === 'number' ? `application ${app_code}` : undefined;
  const who = [kind, url, application, email].filter((text) => typeof text === 'string');
  const isFirst = row.default ? ' (default)' : '';
  const head = `${status === 'ok' ? '✔' : '✘'} ${[profile, ...who].join(', ')}${isFirst}`;
  if (status === 'ok' && advice === null) return detail === null ? head : `${head}: ${detail}`;
  const reasons = [detail, advice && commandsApart(advice, hintCommand)].filter((text) => text !== null);
  return [`${head}: ${status}`, ...reasons.map((text) => `  ${text}`)].join('\n');
}
