import { isObject, type JsonObject } from '../../core/json.ts';

/**
 * The address of a message in the web app of its organization, as the web app writes it itself; `site` is the organization's URL.
 * Undefined where the message lacks an id, or does not say which conversation it is of.
 */
export function messageLink(message: JsonObject, site: string): string | undefined {
  if (typeof message['id'] !== 'number') return undefined;
  const conversation = Array.isArray(message['display_recipient'])
    ? directPart(message['display_recipient'])
    : channelPart(message);
  return conversation && `${site.replace(/\/+$/, '')}/#narrow/${conversation}/near/${message['id']}`;
}

function channelPart({ stream_id: id, display_recipient: name, subject }: JsonObject): string | undefined {
  if (typeof id !== 'number' || typeof name !== 'string' || typeof subject !== 'string') return undefined;
  return `channel/${encodeHash(`${id}-${name.replaceAll(' ', '-')}`)}/topic/${encodeHash(subject)}`;
}

/** The ids of all who take part, ascending; more than two make a group. */
function directPart(recipients: readonly unknown[]): string | undefined {
  const ids = recipients.map((user) => (isObject(user) ? user['id'] : undefined));
  if (ids.length === 0 || !ids.every((id) => typeof id === 'number')) return undefined;
  return `dm/${ids.toSorted((one, other) => one - other).join(',')}-${ids.length > 2 ? 'group' : 'dm'}`;
}

/** Zulip's encoding of a part of a link's hash: percent signs become dots. Half a surrogate pair cannot be encoded. */
function encodeHash(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/[.%()]/g, (sign) => hashSigns[sign] ?? sign);
}

const hashSigns: Readonly<Record<string, string>> = { '.': '.2E', '%': '.', '(': '.28', ')': '.29' };
