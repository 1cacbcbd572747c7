import type { JsonElement } from '../../core/json-elements.ts';
import { elementsOf, type JsonEnvelope } from '../../core/json-reader.ts';
import { parseJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import { accept } from './chat-answer.ts';
import { isMessageId, notMessages, pageWith, type MessageHead, type MessagePage } from './chat-messages.ts';

/** What is read of a message without parsing it. */
const names = [
  'id',
  'timestamp',
  'subject',
  'stream_id',
  'display_recipient',
  'last_edit_timestamp',
  'last_moved_timestamp',
];

/** A message as the text in which the server sent it. */
export class RawMessage implements MessageHead {
  readonly id: number;
  readonly text: JsonElement;

  constructor(id: number, text: JsonElement) {
    this.id = id;
    this.text = text;
  }
  get timestamp(): unknown {
    return this.text.read('timestamp');
  }
  get subject(): unknown {
    return this.text.read('subject');
  }
  get stream_id(): unknown {
    return this.text.read('stream_id');
  }
  get display_recipient(): unknown {
    return this.text.read('display_recipient');
  }
  get last_edit_timestamp(): unknown {
    return this.text.read('last_edit_timestamp');
  }
  get last_moved_timestamp(): unknown {
    return this.text.read('last_moved_timestamp');
  }
}

/**
 * The page in an answer, its messages as their own text; the whole answer is checked to be JSON. The answer gives up its body: a page is
 * in memory as long as its messages are.
 * @throws what `pageOf` throws
 */
export function rawPageOf(answer: Answer): MessagePage<RawMessage> {
  const scanned = scan(answer);
  if (!scanned) {
    accept(answer);
    throw notMessages(answer);
  }
  answer.readAs(parseJson(scanned.rest));
  const { ignored } = accept(answer);
  const messages = scanned.elements.map((element) => messageIn(element, answer));
  const page = pageWith(messages, answer.body, ignored);
  answer.release();
  return page;
}

/** Undefined for anything but JSON with messages: an error of the server, a page of a proxy, a cut body. */
function scan({ bytes }: Answer): JsonEnvelope | undefined {
  try {
    return elementsOf(bytes, 'messages', names);
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

function messageIn(element: JsonElement, answer: Answer): RawMessage {
  const id = element.read('id');
  if (!isMessageId(id)) throw notMessages(answer);
  return new RawMessage(id, element);
}
