import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { Send } from '../http/call.ts';
import { path } from '../http/request.ts';
import { pageOf, type MessageQuery } from './chat-messages.ts';
import { endpoints, type Level } from './endpoints.ts';
import { asksInKnownWords } from './narrow-refusal.ts';
import { rawPageOf } from './raw-message.ts';
import { fetchUpload } from './uploads.ts';

/** The calls of the chat API, each a method. */
export type ChatApi = ReturnType<typeof chatApi>;

/**
 * The chat API, basic auth left to `send` (docs/apis.md, Envelope and errors). Every method throws Failure as `accept` does; one that
 * may not be sent twice throws unknown where no answer came.
 */
export function chatApi(send: Send, sendUnauthenticated: Send) {
  let known: Promise<ServerFacts> | undefined;
  const facts = (): Promise<ServerFacts> => (known ??= readServer(sendUnauthenticated));
  const level: Level = async () => (await facts()).level;
  const ask = asksInKnownWords(send, level);
  return {
    /** Asked once. */
    level,
    /** The name of the organization; undefined where the server does not say. Asked once, together with the level. */
    organization: async (): Promise<string | undefined> => (await facts()).organization,
    /** GET /messages, one request, sorted by id. */
    messages: async (query: MessageQuery) => pageOf(await ask(query)),
    /** The same messages as the text in which the server sends them. */
    raw: { messages: async (query: MessageQuery) => rawPageOf(await ask(query)) },
    /** An attached file of at most so many bytes. */
    upload: (upload: UploadPath, maxBytes: number) => fetchUpload(send, sendUnauthenticated, upload, maxBytes),
    ...endpoints((row) => async (...values) => {
      const { accepts, ...request } = row(...values);
      return accepts(await send(request), level);
    }),
  };
}

interface ServerFacts {
  readonly level?: number | undefined;
  readonly organization?: string | undefined;
}

/** Asked without credentials; no answer means unknown, which counts as the newest (docs/apis.md, Feature levels). */
async function readServer(send: Send): Promise<ServerFacts> {
  try {
    const { body, status } = await send({
      method: 'GET',
      path: path`/api/v1/server_settings`,
      repeat: 'safe',
      timeout: 10_000,
    });
    if (status !== 200 || !isObject(body) || body['result'] !== 'success') return {};
    const level = body['zulip_feature_level'];
    const name = body['realm_name'];
    return {
      level: typeof level === 'number' ? level : typeof body['zulip_version'] === 'string' ? 0 : undefined,
      organization: typeof name === 'string' ? name : undefined,
    };
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'unavailable') return {};
    throw cause;
  }
}
