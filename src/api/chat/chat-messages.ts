import { Failure, unless } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Call, Parameters } from '../http/call.ts';
import { path } from '../http/request.ts';
import { elementsOf, type JsonElement } from '../../core/json-elements.ts';
import { accept } from './chat-answer.ts';

/** A message as the server sent it (docs/apis.md, Messages). */
export type Message = JsonObject & { readonly id: number };

export interface MessageQuery {
  readonly anchor?: string | undefined;
  readonly include_anchor?: boolean | undefined;
  readonly num_before?: number | undefined;
  readonly num_after?: number | undefined;
  readonly narrow?: readonly unknown[] | undefined;
  readonly client_gravatar?: boolean | undefined;
  readonly apply_markdown?: boolean | undefined;
  readonly message_ids?: readonly number[] | undefined;
  readonly allow_empty_topic_name?: boolean | undefined;
}

/** What is looked at while messages are paged through and compared; a server's older messages lack some of it. */
// prettier-ignore
const headFields = [
  'timestamp', 'subject', 'stream_id', 'display_recipient', 'content', 'last_edit_timestamp', 'last_moved_timestamp',
] as const;

export interface MessageHead extends Readonly<Partial<Record<(typeof headFields)[number], unknown>>> {
  readonly id: number;
}

/** How one request is otherwise sent. */
export type CallLimits = Pick<Call, 'timeout' | 'repeat' | 'outlasts'>;

/** Requests pages of messages; messages are parsed, or their own text. */
export interface MessageSource<M extends MessageHead = Message> {
  /** One request, sorted by id. */
  messages(query: MessageQuery, limits?: CallLimits): Promise<MessagePage<M>>;
}

export interface MessagePage<M extends MessageHead = Message> {
  readonly messages: readonly M[];
  readonly found_newest: boolean;
  readonly found_oldest: boolean;
  /** The message of the anchor is in the answer. */
  readonly found_anchor?: boolean;
  readonly history_limited: boolean;
  /** The plan hid messages after the page before this one was read: some between the two are missing. */
  readonly view_changed?: boolean;
  /** Times do not ascend with ids: a range of times may be elsewhere. */
  readonly unordered?: boolean;
  /** Names of parameters that the server did not know. */
  readonly ignored: readonly string[];
}

const messagesTimeout = 60_000;

export function messagesCall(query: MessageQuery): Call {
  const text = (value: unknown): string => (typeof value === 'string' ? value : writeJson(value));
  const parameters: Parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || (name === 'narrow' && Array.isArray(value) && value.length === 0)
      ? []
      : [[name, text(value)] as const],
  );
  return { method: 'GET', path: path`/api/v1/messages`, query: parameters, repeat: 'safe', timeout: messagesTimeout };
}

/** @throws TypeError for what is no message: whoever passes it has checked that already */
export function asMessage(row: unknown): Message {
  if (isMessage(row)) return row;
  throw new TypeError('not a message');
}

function isMessage(row: unknown): row is Message {
  return isObject(row) && isMessageId(row['id']);
}

function isMessageId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function pageOf(answer: Answer): MessagePage {
  const { ignored } = accept(answer);
  const messages = isObject(answer.body) ? answer.body['messages'] : undefined;
  if (!Array.isArray(messages)) throw notMessages(answer);
  for (const [at, message] of messages.entries())
    if (!isMessage(message)) throw notMessages(answer, at, isObject(message) ? message['id'] : undefined);
  return pageWith(messages, answer, ignored);
}

/** A page of these messages, each once, with what the body of the answer says beside them. */
function pageWith<M extends MessageHead>(messages: readonly M[], { body }: Answer, ignored: readonly string[]) {
  const flags = isObject(body) ? body : {};
  const sorted = messages.toSorted((one, other) => one.id - other.id);
  return {
    messages: sorted.filter(({ id }, index) => id !== sorted[index - 1]?.id),
    found_newest: flags['found_newest'] === true,
    found_oldest: flags['found_oldest'] === true,
    found_anchor: flags['found_anchor'] === true,
    history_limited: flags['history_limited'] === true,
    ignored,
  };
}

/** `at`: the place in the list of what is no message, and its id. */
function notMessages({ http }: Answer, at?: number, id?: unknown): Failure {
  const what =
    at === undefined
      ? 'the chat server reported success without a list of messages'
      : `message ${at + 1} of the response has ${id === undefined ? 'no id' : `an id that is not an integer: ${writeJson(id)}`}`;
  return new Failure('unavailable', what, { http });
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

/** Zulip's encoding of a part of a link's hash: percent signs become dots. Half a surrogate pair cannot be encoded. */
function encodeHash(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/[.%()]/g, (sign) => hashSigns[sign] ?? sign);
}

const hashSigns: Readonly<Record<string, string>> = { '.': '.2E', '%': '.', '(': '.28', ')': '.29' };

/** A message as the text in which the server sent it. */
export class RawMessage implements MessageHead {
  readonly id: number;
  readonly text: JsonElement;
  declare readonly subject?: unknown;
  declare readonly stream_id?: unknown;

  constructor(id: number, text: JsonElement) {
    this.id = id;
    this.text = text;
  }
}
for (const name of headFields)
  Object.defineProperty(RawMessage.prototype, name, {
    get(this: RawMessage) {
      return this.text.read(name);
    },
  });

/** The page in an answer, its messages as text; the answer gives up its body to free memory. @throws as `pageOf` */
export function rawPageOf(answer: Answer): MessagePage<RawMessage> {
  // Anything but JSON with messages is an error of the server, a page of a proxy, or a cut body.
  const scanned = unless(SyntaxError, () => elementsOf(answer.bytes, 'messages'));
  if (!scanned) {
    accept(answer);
    throw notMessages(answer);
  }
  answer.readAs(scanned.body);
  const { ignored } = accept(answer);
  const messages = scanned.elements.map((element, at) => {
    const id = element.read('id');
    if (!isMessageId(id)) throw notMessages(answer, at, id);
    return new RawMessage(id, element);
  });
  const page = pageWith(messages, answer, ignored);
  answer.release();
  return page;
}
