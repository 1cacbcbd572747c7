import { textField, type Fields, type Values } from '../schema/field.ts';
import type { Kind } from '../schema/profile.ts';
import { profileNamed } from '../store/account/profiles.ts';
import type { EntryStamp } from '../store/record/history.ts';
import type { Accounts, Invocation } from './context.ts';
import { spanOf, spanOptions, type TimeParts } from './typed-time.ts';

export const historyOptions = {
  ...spanOptions,
  run: textField('ID', 'Only this run; each run prints its name'),
} as const satisfies Fields;

interface PastAct extends EntryStamp {
  readonly app_code?: number | undefined;
  readonly email?: string | undefined;
  /** When the act ended, if that is not `time`. */
  readonly last?: string;
}

/**
 * The test for acts that the options select. The acts themselves show that a forgotten profile once existed.
 * @throws Failure of an option, or of a profile that is neither stored nor in the history
 */
export async function readActFilter(
  { run, ...times }: Partial<Values<typeof historyOptions>>,
  kind: Kind,
  acts: readonly PastAct[],
  context: TimeParts & Accounts & Invocation,
) {
  const { since = -Infinity, until = Infinity } = spanOf(times, context);
  const { profiles, identityOf } = context.accounts;
  const { profile: name } = context.options;
  const isForgotten = name !== undefined && !(await profiles().find(name)) && acts.some((one) => one.profile === name);
  const profile = name === undefined || isForgotten ? undefined : await profileNamed(profiles(), name, kind);
  const [origin, owner] = profile
    ? [identityOf(profile), profile.kind === 'chat' ? profile.email : profile.app_code]
    : [];
  const isOf = (act: PastAct): boolean =>
    isForgotten
      ? act.profile === name
      : !profile || (act.origin === origin && (act.email ?? act.app_code ?? owner) === owner);
  return (act: PastAct): boolean => {
    const isTime = Date.parse(act.last ?? act.time) >= since && Date.parse(act.time) < until;
    return isTime && isOf(act) && (run === undefined || act.run === run.toUpperCase());
  };
}

/** The columns that acts have in common: when, by whom, and where. */
export function whoOf({ time, origin, ...act }: EntryStamp) {
  const [run, account, computer, command] = [act.run, act.account, act.computer, act.command].map(
    (text) => text || null,
  );
  return { time, run, account, computer, command, origin: act.url ?? origin };
}
