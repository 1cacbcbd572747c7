import { Failure } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import type { Answer, Call, Parameters } from '../http/call.ts';
import { path } from '../http/path.ts';
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

export interface MessagePage {
  readonly messages: readonly Message[];
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

function isMessage(row: unknown): row is Message {
  return isObject(row) && typeof row['id'] === 'number';
}

export function pageOf(answer: Answer): MessagePage {
  const { ignored } = accept(answer);
  const body = isObject(answer.body) ? answer.body : {};
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    throw new Failure('unavailable', 'the chat server answered success without a list of messages', {
      http: answer.http,
    });
  }
  return {
    messages: messages.toSorted((one, other) => one.id - other.id),
    found_newest: body['found_newest'] === true,
    found_oldest: body['found_oldest'] === true,
    history_limited: body['history_limited'] === true,
    ignored,
  };
}
