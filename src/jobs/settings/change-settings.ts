import type { ChatApi } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure } from '../../core/failure.ts';
import type { Assignment } from '../../schema/field.ts';
import { identitySettings, levelRules, settings, unifiedSettingsLevel, type LevelRule } from '../../schema/settings.ts';

export interface SettingRow {
  readonly name: string;
  /** As it was sent; a password is not shown. */
  readonly value: unknown;
  readonly status: 'set' | 'ignored' | 'confirmation_sent';
}

/**
 * Sends settings in the order in which the server works them off, passwords, e-mail and name each in a request of its own: the
 * call is not atomic, and those three must not be sent twice (facts page, 1.2).
 * @throws Failure rejected where the server ignored something; incomplete where a later request failed; unknown in doubt
 */
export async function* changeSettings(
  chat: ChatApi,
  typed: readonly Assignment[],
  note: (text: string) => void,
): AsyncGenerator<SettingRow> {
  const values = await fitToLevel(chat, typed, note);
  const ignored: string[] = [];
  const groups = groupsOf(values);
  for (const [index, group] of groups.entries()) {
    try {
      for (const row of await sendGroup(chat, group)) {
        if (row.status === 'ignored') ignored.push(row.name);
        yield row;
      }
    } catch (cause) {
      if (cause instanceof Planned && index < groups.length - 1) continue;
      throw explain(cause, index, groups);
    }
  }
  if (ignored.length > 0) throw notApplied(ignored, await chat.level());
}

function groupsOf(values: readonly Assignment[]): Assignment[][] {
  const of = (names: readonly string[]): Assignment[] => values.filter(({ name }) => names.includes(name));
  const rest = values.filter(({ name }) => !identitySettings.has(name));
  return [of(['old_password', 'new_password']), of(['email']), of(['full_name']), rest].filter(
    (group) => group.length > 0,
  );
}

async function sendGroup(chat: ChatApi, group: readonly Assignment[]): Promise<SettingRow[]> {
  const once = group.some(({ name }) => name === 'email' || name === 'new_password');
  const { ignored } = await chat.updateSettings(group, once ? 'if unprocessed' : 'safe');
  const kept = await isNameKept(chat, group);
  return group.map(({ name, field, value }) => ({
    name,
    value: field.kind === 'secret' ? '[secret]' : value,
    status:
      ignored.includes(name) || (name === 'full_name' && kept)
        ? 'ignored'
        : name === 'email'
          ? 'confirmation_sent'
          : 'set',
  }));
}

/** Where names may not be changed the server says success and does nothing: only reading back tells (facts page, 1.2). */
async function isNameKept(chat: ChatApi, group: readonly Assignment[]): Promise<boolean> {
  const wanted = group.find(({ name }) => name === 'full_name')?.value;
  if (typeof wanted !== 'string') return false;
  const now = (await readBack(chat))?.['full_name'];
  return typeof now === 'string' && now !== wanted.trim();
}

/** Read-backs that are not answered are skipped, never failures (contract, section 5). */
async function readBack(chat: ChatApi): ReturnType<ChatApi['ownUser']> {
  try {
    return await chat.ownUser();
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'unavailable') return undefined;
    throw cause;
  }
}

/** From this level on an administrator may set others' settings (facts page, 5.2). */
const targetUsersLevel = 444;

/** The values in the words of the server's level. @throws Failure rejected where the level does not take one */
async function fitToLevel(
  chat: ChatApi,
  values: readonly Assignment[],
  note: (text: string) => void,
): Promise<readonly Assignment[]> {
  if (values.every(({ name }) => identitySettings.has(name))) return values;
  const level = await chat.level();
  if (values.some(({ name }) => name === 'target_users') && (level ?? 0) < targetUsersLevel) {
    throw new Failure(
      'rejected',
      `target_users needs level ${targetUsersLevel}: an older server changes the settings of the caller instead`,
      {
        hint: 'Nothing was sent.',
      },
    );
  }
  if (level === undefined) return values;
  if (level < unifiedSettingsLevel) {
    throw new Failure(
      'rejected',
      `this server has level ${level}: below ${unifiedSettingsLevel} only full_name, email and passwords can be set`,
      {
        hint: 'Update the chat server.',
      },
    );
  }
  return values.map((assignment) => {
    const rule = levelRules.find((candidate) => applies(candidate, assignment, level));
    if (!rule) return assignment;
    if (rule.instead === undefined)
      throw new Failure('rejected', `${rule.why}; this server has ${level}`, { hint: 'Update the chat server.' });
    note(`${rule.why}; this server has ${level}: sending ${rule.instead}`);
    return { ...assignment, value: rule.instead };
  });
}

function applies(
  { name, value, from = 0, until = Infinity }: LevelRule,
  assignment: Assignment,
  level: number,
): boolean {
  if (name !== assignment.name || (value !== undefined && value !== assignment.value)) return false;
  return level < from || level >= until;
}

function explain(cause: unknown, index: number, groups: readonly (readonly Assignment[])[]): unknown {
  if (!(cause instanceof Failure)) return cause;
  const names = (some: readonly (readonly Assignment[])[]): string =>
    some
      .flat()
      .map(({ name }) => name)
      .join(', ');
  const left = names(groups.slice(index));
  const later = names(groups.slice(index + 1));
  if (index === 0 || cause.kind === 'unknown') {
    return new Failure(cause.kind, later === '' ? cause.message : `${cause.message}; not sent: ${later}`, {
      ...cause.details,
      cause,
    });
  }
  if (cause.kind === 'cancelled' || cause.kind === 'terminated') return cause;
  return new Failure('incomplete', `${cause.message}; set: ${names(groups.slice(0, index))}; not set: ${left}`, {
    ...cause.details,
    cause,
  });
}

function notApplied(names: readonly string[], level: number | undefined): Failure {
  const because = names.includes('full_name')
    ? 'the organization may forbid name changes'
    : 'it does not know them at its level';
  const known = level === undefined ? '' : ` (level ${level})`;
  return new Failure('rejected', `the server${known} ignored: ${names.join(', ')}; ${because}`, {
    hint: names.every((name) => name in settings)
      ? 'See chatelaine settings describe NAME for the level that a setting needs.'
      : 'Check the name: a setting that the server does not know is ignored.',
  });
}
