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

/** How one request is sent, where it differs from the usual way. */
export type CallLimits = Pick<Call, 'timeout' | 'repeat' | 'outlasts'>;

export interface MessageSource {
  /** One request, sorted by id. */
  messages(query: MessageQuery, limits?: CallLimits): Promise<MessagePage>;
}

export interface MessagePage {
  readonly messages: readonly RawMessage[];
  readonly found_newest: boolean;
  readonly found_oldest: boolean;
  readonly history_limited: boolean;
  /** The plan hid messages after the page before this one was read: some between the two are missing. */
  readonly view_changed?: boolean;
  /** How long its request waited: for a rate limit, a retry, or people who move messages. */
  readonly waited?: Answer['waited'];
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

/** A message as the text in which the server sent it. */
export class RawMessage {
  readonly id: number;
  readonly text: JsonElement;

  constructor(id: number, text: JsonElement) {
    this.id = id;
    this.text = text;
  }

  /** One field; a server's older messages lack some. */
  read(name: string): unknown {
    return this.text.read(name);
  }

  /** The complete message. */
  parse(): Message {
    return { ...this.text.parse(), id: this.id };
  }
}

/** The page in an answer, its messages sorted, each once; the answer gives up its body to free memory. */
export function pageOf(answer: Answer): MessagePage {
  // Anything but JSON with messages is an error of the server, a page of a proxy, or a cut body.
  const scanned = unless(SyntaxError, () => elementsOf(answer.bytes, 'messages'));
  if (!scanned) {
    accept(answer);
    throw notMessages(answer, 'the chat server reported success without a list of messages');
  }
  answer.readAs(scanned.body);
  const { ignored } = accept(answer);
  const messages = new Map<number, RawMessage>();
  for (const [at, element] of scanned.elements.entries()) {
    const id = element.read('id');
    const what = id === undefined ? 'no id' : `an id that is not an integer: ${writeJson(id)}`;
    if (typeof id !== 'number' || !Number.isSafeInteger(id))
      throw notMessages(answer, `message ${at + 1} of the response has ${what}`);
    if (!messages.has(id)) messages.set(id, new RawMessage(id, element));
  }
  const flags = isObject(scanned.body) ? scanned.body : {};
  answer.release();
  return {
    messages: [...messages.values()].sort((one, other) => one.id - other.id),
    found_newest: flags['found_newest'] === true,
    found_oldest: flags['found_oldest'] === true,
    history_limited: flags['history_limited'] === true,
    waited: answer.waited,
    ignored,
  };
}

function notMessages({ http }: Answer, what: string): Failure {
  return new Failure('unavailable', what, { http });
}
