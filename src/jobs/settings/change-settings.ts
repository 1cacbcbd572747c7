import type { ChatApi } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure } from '../../core/failure.ts';
import type { Assignment } from '../../schema/field.ts';
import { settingField, valueName } from '../../schema/setting-text.ts';
import { identitySettings, levelRules, unifiedSettingsLevel } from '../../schema/settings.ts';

type SettingRow = ReturnType<typeof rowOf>;

/**
 * Sends one request, and before it a new password and a new address in requests of their own, which must not be sent
 * twice (docs/apis.md, Settings). @throws Failure rejected where the server ignored something; incomplete where a later
 * request failed; unknown for an unconfirmed password or e-mail
 */
export async function* changeSettings(
  chat: ChatApi,
  typed: readonly Assignment[],
  note: (text: string) => void,
): AsyncGenerator<SettingRow> {
  const groups = groupsOf(await fitToLevel(chat, typed, note));
  const done: SettingRow[] = [];
  for (const [index, group] of groups.entries()) {
    try {
      for (const row of await sendGroup(chat, group)) {
        done.push(row);
        if (row.status === 'confirmation_sent')
          note('the server sends a link to the new address; nothing changes until it is opened');
        yield row;
      }
    } catch (cause) {
      if (cause instanceof Planned && index < groups.length - 1) continue;
      throw explain(cause, done, groups.slice(index));
    }
  }
  const ignored = namesOf(done, isIgnored);
  if (ignored.length > 0) throw notApplied(ignored, await chat.level());
}

function groupsOf(values: readonly Assignment[]): Assignment[][] {
  const passwords = values.filter(({ name }) => name === 'old_password' || name === 'new_password');
  const email = values.filter(({ name }) => name === 'email');
  const rest = values.filter((value) => !passwords.includes(value) && !email.includes(value));
  return [passwords, email, rest].filter((group) => group.length > 0);
}

async function sendGroup(chat: ChatApi, group: readonly Assignment[]): Promise<SettingRow[]> {
  const names = group.map(({ name }) => name);
  const once = names.includes('email') || names.includes('new_password');
  const { ignored } = await chat.updateSettings(group, once ? 'if unprocessed' : 'safe');
  return group.map((assignment) => rowOf(assignment, ignored.includes(assignment.name) ? 'ignored' : 'taken'));
}

function rowOf({ name, field, value }: Assignment, was: 'ignored' | 'taken') {
  const value_name = valueName(field, value);
  const sent = name === 'email' ? 'confirmation_sent' : 'set';
  return {
    name,
    value: field.kind === 'secret' ? '[secret]' : value,
    ...(value_name !== undefined && { value_name }),
    status: was === 'ignored' ? was : sent,
  };
}

/** Adds to a failure the settings that were set before it, and those that were not sent after it. */
function explain(cause: unknown, done: readonly SettingRow[], left: readonly (readonly Assignment[])[]): unknown {
  if (!(cause instanceof Failure) || cause.isInterruption) return cause;
  const isPart = done.length > 0 && cause.kind !== 'unknown';
  const parts = {
    set: namesOf(done, (row) => !isIgnored(row)),
    ignored: namesOf(done, isIgnored),
    ...(isPart ? { 'not set': namesOf(left.flat()) } : { 'not sent': namesOf(left.slice(1).flat()) }),
  };
  const listed = Object.entries(parts).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`; ${what}: ${names.join(', ')}`],
  );
  const [address] = left[0]?.flatMap(({ name, value }) => (name === 'email' ? [String(value)] : [])) ?? [];
  // The advice says how to find out whether an address or a password was changed.
  const look =
    address === undefined
      ? 'Sign in with the new password before you repeat it: if that works, the change was made.'
      : `Check the mailbox of ${address} before you repeat it: a confirmation link means that the change was made.`;
  const details = cause.kind === 'unknown' ? { hint: look } : {};
  return cause.as(isPart ? 'incomplete' : cause.kind, cause.message + listed.join(''), details);
}

function isIgnored({ status }: SettingRow): boolean {
  return status === 'ignored';
}

function namesOf<T extends { readonly name: string }>(items: readonly T[], wanted = (_item: T) => true): string[] {
  return items.filter(wanted).map(({ name }) => name);
}

function notApplied(names: readonly string[], level: number | undefined): Failure {
  const server = level === undefined ? 'the server' : `the server (level ${level})`;
  const reasons = names.map((name) => `${name} (${reasonFor(name, level)})`).join(', ');
  const [first = ''] = names;
  return new Failure('rejected', `${server} ignored: ${reasons}`, {
    hint: names.every(settingField)
      ? `For the level that a setting needs: chatelaine settings describe ${first}`
      : 'Check the name: a setting that the server does not know is ignored.',
  });
}

function reasonFor(name: string, level: number | undefined): string {
  if (name === 'target_users') return 'the settings of this account were changed instead';
  const needed = settingField(name)?.level ?? 0;
  return level !== undefined && needed > level ? `needs level ${needed}` : 'it does not know this setting';
}

/** Adapts values to the level, which is requested only if it matters. @throws Failure rejected for a missing setting */
async function fitToLevel(
  chat: ChatApi,
  values: readonly Assignment[],
  note: (text: string) => void,
): Promise<readonly Assignment[]> {
  if (values.every(({ name }) => identitySettings.has(name))) return values;
  const level = await chat.level();
  const server = level === undefined ? 'this server does not report its level' : `this server has ${level}`;
  if (level !== undefined && level < unifiedSettingsLevel)
    throw refusal(`${server}: below ${unifiedSettingsLevel} only full_name, email and passwords can be set`);
  return values.map((assignment) => {
    const rule = levelRules.find(({ name, value, from = 0, until = Infinity, unreported }) => {
      const at = level ?? unreported;
      const isMeant = name === assignment.name && (value === undefined || value === assignment.value);
      return isMeant && at !== undefined && (at < from || at >= until);
    });
    if (!rule) return assignment;
    if (rule.instead === undefined)
      throw refusal(`${rule.why}; ${server}`, rule.until === undefined ? undefined : 'Choose another value.');
    note(`${rule.why}; ${server}: sending ${rule.instead}`);
    return { ...assignment, value: rule.instead };
  });
}

function refusal(message: string, advice = 'Update the chat server.'): Failure {
  return new Failure('rejected', message, { hint: `Nothing was sent. ${advice}` });
}
