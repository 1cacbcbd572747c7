import { notShown } from '../../api/licensing/license-writes.ts';
import { sizeOf, textOf, type License } from '../../api/licensing/license.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine, shellWord } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import type { LicenseUser, OpenWrite } from '../../store/record/writes.ts';
import { answerOf, type Case, type Rules, type Unmet, type Why } from './case.ts';
import type { ViewedKey } from './lookups.ts';

/** Why a user has no license, in a sentence that may follow what was sent. */
function reasonOf(why: Why, asked: LicenseFields): string | undefined {
  switch (why.is) {
    case 'incomplete':
    case 'unread':
      return why.failure.kind === 'unknown' ? why.failure.message : `the list failed: ${why.failure.message}`;
    case 'refused':
      return `sent again: ${why.failure.message}`;
    case 'stopped':
      return why.failure && `${why.failure.message} before it was known whether the license was created`;
    case 'similar':
      return similarTo(why.near, asked.remote_user);
    case 'open':
      return openInWords(asked, why.answer, why.near);
    case 'created before':
      return createdInWords(asked, why.known);
    case 'differs':
      return why.text;
    case 'others': {
      const [only, ...more] = why.added;
      const what =
        only && more.length === 0 ? `a license of size ${sizeOf(only) ?? '?'}` : `${more.length + 1} licenses`;
      return `the list shows ${what} that was not there before`;
    }
    case 'used up':
      return `sent ${why.sent === 1 ? 'once' : `${why.sent} times`}, and the list does not show the license`;
    case 'not shown':
      return `the list does not show the license${why.key ? keyInWords(why.key) : ''}`;
    case 'nothing before':
      return 'the licenses that were there before are not known';
  }
}

/** Explains a license that no lookup shows by the response to a GET of its key. */
function keyInWords(key: ViewedKey): string {
  if (key.is === 'as asked')
    return ', although it is there: the server shows it late, or its filter does not find such names';
  if (key.is === 'another') return `, and its key is that of '${textOf(key.license, 'remote_user') ?? '?'}'`;
  return '';
}

export function storedInWords({ remote_user }: LicenseUser, name: string): string {
  return `the server stores the name '${remote_user}' as '${name}'`;
}

/** The failure of a case that ended without the requested license, worded for a run that has no other case. */
export function failureOf(one: Case, { outcome, why }: Unmet, wants: Rules['wants'] = 'one license'): Failure {
  const { asked } = one;
  const cause = 'failure' in why ? why.failure : undefined;
  // The text of an open answer already says what the server answered.
  const said = why.is === 'open' ? undefined : sentFailure(one)?.message;
  if (outcome === 'unknown') {
    const [isOpen, isAnswered] = [why.is === 'open', answerOf(one) !== undefined];
    const isFinal = isOpen || (isAnswered && why.is !== 'stopped' && why.is !== 'unread');
    const isThere = why.is === 'not shown' && why.key?.is === 'as asked';
    // `license create` is never safe to repeat: each run creates one more license.
    const isSafe = wants === 'one license' && (isOpen || isAnswered);
    const { remote_user, app_code } = asked;
    const check = `Check before you create again: ${commandLine('license list', [], { remote_user, app_code })}`;
    const hint = !one.sent && cause ? cause.details.hint : !isSafe ? check : isThere ? lateHint : sendAgainHint(asked);
    const kind = why.is === 'stopped' && cause?.isInterruption ? cause.kind : 'unknown';
    return new Failure(kind, [said, reasonOf(why, asked)].filter(Boolean).join('; '), {
      hint,
      ...(isFinal && { retryable: false }),
    });
  }
  if (cause) return cause.as(cause.kind, [said, cause.message].filter(Boolean).join('; '));
  const isRefused = why.is === 'similar' || why.is === 'created before';
  const text = `${reasonOf(why, asked) ?? ''}${isRefused ? '; nothing was created' : ''}`;
  return new Failure('rejected', text, { hint: hints[why.is]?.(asked), retryable: false });
}

const lateHint = 'Run the same command again later, with a longer --settle if the server shows new licenses late.';

const hints: { readonly [K in Why['is']]?: (asked: LicenseFields) => string } = {
  similar: ({ app_code }) =>
    `If these are two users, repeat with --allow-similar. Check with: ${commandLine('license list', [], { app_code })}`,
  'created before': ({ remote_user }) =>
    `If the license is gone, create another one with --send-again ${shellWord(remote_user)}.`,
};

function sentFailure({ sent, asked }: Case): Failure | undefined {
  if (sent?.creation.state === 'answered') return notShown(sent.creation, asked);
  return sent?.creation.failure;
}

export function waitInWords(one: Case, wait: Milliseconds): string {
  const span = wait > 0 ? ` in ${formatDuration(Math.ceil(wait))}` : '';
  const { remote_user } = one.asked;
  const said = sentFailure(one)?.message;
  if (said !== undefined) return `${said}; checking${span} whether the license of ${remote_user} was created`;
  const isChange = one.recorded?.pending.some(({ asked }) => asked.kind === 'change') ?? false;
  return `an earlier run may have ${isChange ? 'changed the' : 'requested a'} license of ${remote_user}: listing again${span}`;
}

export function inWords(counts: readonly (readonly [count: number, word: string])[]): string {
  return counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ');
}

export function changeInWords(before: number | null | undefined, after: number): string {
  return `${before ?? '?'} -> ${after}`;
}

export function similarTo(near: License, remote_user: string): string {
  const listed = textOf(near, 'remote_user') ?? 'without a name';
  if (listed === remote_user)
    return `the server lists a license of '${remote_user}' whose app_code is not an integer: '${textOf(near, 'app_code') ?? '?'}'`;
  return `the server lists no license of '${remote_user}', but one of the similar name '${listed}'`;
}

export function severalWarning({ remote_user, app_code }: LicenseUser): string {
  const view = commandLine('license view', [], { remote_user });
  return `${remote_user} has several licenses in application ${app_code}; license audit finds such users, and license retire CODE retires what nobody uses. Look: ${view}`;
}

/** Asks for consent where a list or the history shows a license; warns of an open answer and of a similar name. */
export async function sayBefore(
  { asked, seen, recorded, known }: Case,
  warn: (text: string) => void,
  agree: (reason: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const { remote_user, app_code } = asked;
  const result = seen?.result;
  if (result && 'failure' in result)
    warn(`the licenses of ${remote_user} could not be listed: ${result.failure.message}`);
  else if (result?.shows === 'licenses') {
    const { length } = result.licenses;
    const has = `${remote_user} already has ${length === 1 ? 'a license' : `${length} licenses`} in application ${app_code}`;
    await agree(`${has}: this creates another; license ensure would not`);
  } else {
    if (known) await agree(`${createdInWords(asked, known)}: this creates another`);
    const [near] = result?.shows === 'near' ? result.licenses : [];
    if (near) warn(similarTo(near, remote_user));
    if (recorded?.open) warn(`${openInWords(asked, recorded.open)}: this creates another one`);
  }
}

/** Describes a license that the history has, but no lookup shows. */
export function createdInWords({ remote_user }: LicenseUser, known: HistoryEntry): string {
  const { time, run, license_code_end: end } = known;
  const key = end === undefined ? '' : `, with a key that ends with ${end}`;
  return `run ${run} gave '${remote_user}' a license at ${time.slice(0, 19)}Z${key}, and the server does not show it`;
}

/** Describes an earlier POST that was answered, although no list shows its license. */
export function openInWords({ remote_user }: LicenseUser, { status, time, key_end }: OpenWrite, near?: License) {
  const key = key_end === undefined ? 'without a key' : `with a license whose key ends with ${key_end}`;
  const shown = near ? similarTo(near, remote_user) : `no list shows a license of '${remote_user}'`;
  return `the server answered a request of ${new Date(time).toISOString().slice(0, 19)}Z with ${status}, ${key}; ${shown}`;
}

export function sendAgainHint({ remote_user, app_code }: LicenseUser): string {
  const list = commandLine('license list', [], { app_code });
  return `If there is no license, request another one with --send-again ${shellWord(remote_user)}. Check first: ${list}`;
}
