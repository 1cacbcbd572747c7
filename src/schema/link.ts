import { unless, usage } from '../core/failure.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { isLoopback } from './url.ts';
import { narrowTerm, type NarrowTerm } from './narrow.ts';

export interface Link {
  readonly terms: readonly NarrowTerm[];
  /** The message that it leads to. */
  readonly near?: string | undefined;
}

/** Reads a text copied from the web app of `site` (docs/apis.md, Links). @throws Failure usage for another host */
export function readLink(text: string, site: string | undefined): Link | undefined {
  const fragment = isUrl(text) ? `#${fragmentOf(text, site)}` : bareLink(text);
  const path = /^\/?#?narrow(?:\/|%2f)(.*)$/i.exec(fragment)?.[1]?.replace(/%2f/gi, '/');
  if (path !== undefined) return narrowOfPath(path);
  if (isUrl(text))
    throw usage('the link leads to no conversation', 'Copy it while a channel, topic or message is shown.');
  const [, quoted, topic, plain] = /^#(?:\*\*([^>]+?)(?:>(.*?))?(?:@\d+)?\*\*|(.+))$/.exec(fragment) ?? [];
  const channel = quoted ?? plain;
  if (channel === undefined) return undefined;
  return {
    terms: [{ operator: 'channel', operand: channel }, ...(topic === undefined ? [] : [narrowTerm('topic', topic)])],
  };
}

/** The operator's current name, for one that older versions of the web app use. */
export function operatorNamed(word: string): string {
  return olderNames.get(word) ?? word;
}

const olderNames: ReadonlyMap<string, string> = new Map([
  ['stream', 'channel'],
  ['streams', 'channels'],
  ['subject', 'topic'],
  ['pm-with', 'dm'],
  ['group-pm-with', 'dm-including'],
  ['from', 'sender'],
]);
/** Operators whose operand begins with ids, and goes on with names for the reader: `31-bulk`, `9,10-group`. */
const withIds: ReadonlySet<string> = new Set(['channel', 'dm', 'dm-including', 'sender', 'mentions']);

/** Operators and operands alternate; a last operator without one is left out. */
function narrowOfPath(path: string): Link {
  const parts = path.split('/');
  const pairs = parts.flatMap((part, index) => {
    const operand = parts[index + 1];
    return index % 2 === 1 || operand === undefined ? [] : [[part, decodeHash(operand)] as const];
  });
  const terms = pairs.flatMap(([name, text]): NarrowTerm[] => {
    const word = name.replace(/^-/, '');
    const operator = operatorNamed(word);
    const operand = withIds.has(operator) ? text.replace(/^(\d{1,15}(?:,\d{1,15})*)-.*$/s, '$1') : text;
    return operator === 'near'
      ? []
      : [{ ...narrowTerm(operator, operand), ...(word === name ? {} : { negated: true }) }];
  });
  if (terms.length === 0) throw usage('the link leads to no conversation');
  const near = pairs.find(([name, text]) => name === 'near' && /^\d{1,15}$/.test(text))?.[1];
  return { terms, near };
}

/** Decodes a part of a link's hash, in which Zulip writes dots as percent signs. @throws Failure usage if it cannot */
function decodeHash(text: string): string {
  const decoded = unless(URIError, () => decodeURIComponent(text.replaceAll('.', '%')));
  if (decoded === undefined) throw usage('the link is incomplete or changed: part of it cannot be decoded');
  return decoded;
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(bareLink(text));
}

/** A link without what mail programs and Markdown put around it: `<…>`, `[words](…)`. */
function bareLink(text: string): string {
  const [, inAngles, inBrackets] =
    /^(?:<((?:https?:\/\/|\/?#narrow).*)>|\[.*\]\(<?((?:https?:\/\/|\/?#narrow)[^\s>]*?)>?\))$/is.exec(text.trim()) ??
    [];
  return inAngles ?? inBrackets ?? text.trim();
}

/** The part behind `#` in a URL of the site; this machine's ports count as one. @throws Failure usage: another host */
export function fragmentOf(url: string, site: string | undefined): string {
  const bare = bareLink(url);
  if (!URL.canParse(bare)) throw usage('the link is not a URL');
  const { host, hostname, hash } = new URL(bare);
  const own = new URL(site ?? url);
  if (host !== own.host && !(isLoopback(hostname) && isLoopback(own.hostname)))
    throw usage(
      `the link leads to ${host}, but the account is on ${own.host}`,
      'Choose a profile of that host with --profile; auth status shows them.',
    );
  if (hash.length < 2) throw usage('the link has no # with a conversation or view', 'Copy it while the page is shown.');
  return bare.slice(bare.indexOf('#') + 1);
}

/** A message's address as the web app of `site` writes it; undefined where it lacks an id or a conversation. */
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

/** Encodes a part of a link's hash with dots as percent signs, as Zulip does. Half a surrogate pair is replaced. */
function encodeHash(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/[.%()]/g, (sign) => hashSigns[sign] ?? sign);
}

const hashSigns: Readonly<Record<string, string>> = { '.': '.2E', '%': '.', '(': '.28', ')': '.29' };
