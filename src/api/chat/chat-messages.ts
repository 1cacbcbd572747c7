import { Failure } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Call, Parameters } from '../http/call.ts';
import { path } from '../http/request.ts';
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
export interface MessageHead {
  readonly id: number;
  readonly timestamp?: unknown;
  readonly subject?: unknown;
  readonly stream_id?: unknown;
  readonly display_recipient?: unknown;
  readonly last_edit_timestamp?: unknown;
  readonly last_moved_timestamp?: unknown;
}

/** Where pages of messages are asked for; messages are parsed, or their own text. */
export interface MessageSource<M extends MessageHead = Message> {
  /** One request, sorted by id. */
  messages(query: MessageQuery): Promise<MessagePage<M>>;
}

export interface MessagePage<M extends MessageHead = Message> {
  readonly messages: readonly M[];
  readonly found_newest: boolean;
  readonly found_oldest: boolean;
  readonly history_limited: boolean;
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

export function isMessageId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function pageOf(answer: Answer): MessagePage {
  const { ignored } = accept(answer);
  const messages = isObject(answer.body) ? answer.body['messages'] : undefined;
  if (!Array.isArray(messages) || !messages.every(isMessage)) throw notMessages(answer);
  return pageWith(messages, answer.body, ignored);
}

/** A page of these messages, each once, with what the body of the answer says beside them. */
export function pageWith<M extends MessageHead>(
  messages: readonly M[],
  body: unknown,
  ignored: readonly string[],
): MessagePage<M> {
  const flags = isObject(body) ? body : {};
  return {
    messages: messages
      .toSorted((one, other) => one.id - other.id)
      .filter(({ id }, index, sorted) => id !== sorted[index - 1]?.id),
    found_newest: flags['found_newest'] === true,
    found_oldest: flags['found_oldest'] === true,
    history_limited: flags['history_limited'] === true,
    ignored,
  };
}

export function notMessages({ http }: Answer): Failure {
  return new Failure('unavailable', 'the chat server answered success without a list of messages', { http });
}
