import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import type { Assignment } from '../../schema/field.ts';
import {
  identitySettings,
  levelRules,
  targetUsersLevel,
  unifiedSettingsLevel,
  type LevelRule,
} from '../../schema/settings.ts';

/**
 * The settings in the words of the server's level; the level is asked only where it changes what is sent.
 * @throws Failure rejected where the level does not take a setting: nothing was sent
 */
export async function fitToLevel(
  chat: ChatApi,
  values: readonly Assignment[],
  note: (text: string) => void,
): Promise<readonly Assignment[]> {
  if (values.every(({ name }) => identitySettings.has(name))) return values;
  const level = await chat.level();
  refuseTargetUsers(values, level);
  if (level === undefined) return values;
  if (level < unifiedSettingsLevel) {
    const taken = `below ${unifiedSettingsLevel} only full_name, email and passwords can be set`;
    throw refused(`this server has level ${level}: ${taken}`);
  }
  return values.map((assignment) => {
    const rule = levelRules.find((candidate) => applies(candidate, assignment, level));
    if (!rule) return assignment;
    if (rule.instead === undefined) throw refused(`${rule.why}; this server has ${level}`);
    note(`${rule.why}; this server has ${level}: sending ${rule.instead}`);
    return { ...assignment, value: rule.instead };
  });
}

/** An older server ignores `target_users` and changes the caller's own settings, so an unknown level is too low. */
function refuseTargetUsers(values: readonly Assignment[], level: number | undefined): void {
  if (level !== undefined && level >= targetUsersLevel) return;
  if (values.every(({ name }) => name !== 'target_users')) return;
  const server = level === undefined ? 'this server does not report its level' : `this server has ${level}`;
  throw refused(
    `target_users needs level ${targetUsersLevel}, ${server}: an older server changes the settings of the caller instead`,
  );
}

function refused(message: string): Failure {
  return new Failure('rejected', message, { hint: 'Nothing was sent. Update the chat server.' });
}

function applies(
  { name, value, from = 0, until = Infinity }: LevelRule,
  assignment: Assignment,
  level: number,
): boolean {
  if (name !== assignment.name || (value !== undefined && value !== assignment.value)) return false;
  return level < from || level >= until;
}
