import { identitySettings } from '../../schema/settings.ts';
import type { User } from '../records.ts';
import type { UserCall } from './chat-call.ts';
import { changeEmail, changeName, changePassword } from './identity.ts';
import { readParameters } from './parameters.ts';
import { levels } from './levels.ts';
import { Refusal, serverError } from './refusal.ts';
import { usersToChange, defaultSettings, languages, settingsAt, sounds, type SettingValue } from './settings-at.ts';

type SettingValues = Readonly<Record<string, SettingValue>>;

/**
 * PATCH /settings and its aliases (docs/apis.md, Settings). Not atomic: language, sound and batching are checked, then
 * password, e-mail, name, the other settings and the time zone are changed one after another; what was changed before a
 * fault stays.
 * @throws Refusal
 */
export function changeSettings(call: UserCall) {
  const { level } = call;
  const values = readParameters(call, settingsAt(call));
  const given: Record<string, SettingValue> = {};
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && typeof value !== 'object') given[name] = value;
  checkChoices(given);
  const target = typeof values['target_users'] === 'object' ? values['target_users'] : undefined;
  const users = usersToChange(call, target, Object.keys(given));
  if (target) {
    for (const user of users) changeOthers({ ...call, user }, given);
    return {};
  }
  const before = call.user;
  changePassword(call, text(given['new_password']), text(given['old_password']));
  changeEmail(call, text(given['email']));
  changeName(call, text(given['full_name']));
  changeOthers(call, given);
  return level < levels.ignoredSettings ? changedValues(before, given, call) : {};
}

function text(value: SettingValue | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function checkChoices(given: SettingValues): void {
  const language = given['default_language'];
  if (language !== undefined && !languages.has(String(language))) throw new Refusal('Invalid default_language');
  const sound = given['notification_sound'];
  if (sound !== undefined && sound !== 'none' && !sounds.has(String(sound))) {
    throw new Refusal(`Invalid notification sound '${sound}'`);
  }
  const period = given['email_notifications_batching_period_seconds'];
  if (typeof period === 'number' && (period < 1 || period > 604_800)) {
    throw new Refusal(`Invalid email batching period: ${period} seconds`);
  }
}

function changeOthers(call: UserCall, given: SettingValues): void {
  const { timezone, ...others } = given;
  for (const [name, value] of Object.entries(others)) {
    if (identitySettings.has(name)) continue;
    // Neither has a check of its own; its column is a small unsigned integer (docs/apis.md, Settings).
    const isSmall = name === 'web_font_size_px' || name === 'web_line_height_percent';
    if (isSmall && (Number(value) < 0 || Number(value) > 32_767)) throw serverError();
    keep(call, name, value);
  }
  if (timezone !== undefined) keep(call, 'timezone', timezone);
}

function keep({ state, user }: UserCall, name: string, value: SettingValue): void {
  const now = state.users.get(user.user_id) ?? user;
  if (settingOf(now, name) === value) return;
  state.users.put(user.user_id, { ...now, settings: { ...now.settings, [name]: value } });
}

function settingOf(user: User, name: string): SettingValue | undefined {
  return user.settings[name] ?? defaultSettings[name];
}

/** Early servers said what they changed instead of what they ignored (docs/apis.md, Settings). */
function changedValues(before: User, given: SettingValues, { state }: UserCall): Record<string, SettingValue> {
  const after = state.users.get(before.user_id) ?? before;
  const changed: Record<string, SettingValue> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name.endsWith('_password')) continue;
    const [old, now] = [fieldOf(before, name), fieldOf(after, name)];
    if (old !== now) changed[name] = now ?? value;
  }
  return changed;
}

function fieldOf(user: User, name: string): SettingValue | undefined {
  if (name === 'full_name') return user.full_name;
  if (name === 'email') return user.pending_email ?? user.email;
  return settingOf(user, name);
}
