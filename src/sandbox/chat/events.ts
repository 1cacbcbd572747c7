import { identitySettings, settings } from '../../schema/settings.ts';
import type { Field } from '../../schema/field.ts';
import type { UserCall } from './chat-call.ts';
import { levels } from './levels.ts';
import { jsonValue, plain, readParameters, required } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { defaultSettings, settingsAt } from './settings-at.ts';

/** POST /register: returns only the settings of the account, of all state; its queue never has events. */
export function register(call: UserCall) {
  const { level, user } = call;
  const { fetch_event_types: wanted } = readParameters(call, {
    fetch_event_types: jsonValue,
    event_types: jsonValue,
    client_capabilities: jsonValue,
    apply_markdown: jsonValue,
    client_gravatar: jsonValue,
    slim_presence: jsonValue,
    all_public_streams: jsonValue,
  });
  const isWanted = level >= levels.userSettings && (!Array.isArray(wanted) || wanted.includes('user_settings'));
  const queue = { queue_id: `${user.user_id}:${level}`, last_event_id: -1 };
  return { ...queue, zulip_feature_level: level, ...(isWanted && { user_settings: settingsOf(call) }) };
}

/** DELETE /events. @throws Refusal for a queue of another account */
export function removeQueue(call: UserCall) {
  const queue_id = required('queue_id', readParameters(call, { queue_id: plain }).queue_id);
  if (queue_id.startsWith(`${call.user.user_id}:`)) return {};
  throw new Refusal(`Bad event queue ID: ${queue_id}`, { code: 'BAD_EVENT_QUEUE_ID', extra: { queue_id } });
}

function settingsOf(call: UserCall) {
  const { user } = call;
  const known: Readonly<Record<string, Field>> = settings;
  const names = Object.keys(settingsAt({ ...call, segment: '' })).filter((name) => !unreported.has(name));
  return Object.fromEntries(
    names.map((name) => [name, user.settings[name] ?? defaultSettings[name] ?? blankOf(known[name])]),
  );
}

const unreported: ReadonlySet<string> = new Set([...identitySettings, 'target_users']);

function blankOf(field: Field | undefined) {
  if (field?.kind === 'integer') return Object.values(field.names ?? {})[0] ?? 0;
  if (field?.kind === 'string') return field.choices?.[0] ?? '';
  return false;
}
