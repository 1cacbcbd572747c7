import { Failure } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import { Secret } from '../../core/secret.ts';
import type { Assignment } from '../../schema/field.ts';
import { narrowLevels } from '../../schema/levels.ts';
import { snippetLevel } from '../../schema/snippet.ts';
import { viewLevel } from '../../schema/view.ts';
import { isSuccess } from '../http/answer.ts';
import type { Answer, Send } from '../http/call.ts';
import { path } from '../http/path.ts';
import { messagesCall, pageOf, type MessageQuery, type MessageSource } from './chat-messages.ts';
import { accept, acceptOnce, isMissingRoute, refusal, routeMissing } from './chat-answer.ts';
import { legacyNarrow } from './legacy.ts';
import { rawPageOf, type RawMessage } from './raw-message.ts';
import { dependsOnLevel, isBadNarrow, narrowRefusal } from './narrow-refusal.ts';

/** What the server ignored of a request that it accepted. */
export interface Accepted {
  readonly ignored: readonly string[];
}

export interface ViewChange {
  readonly is_pinned?: boolean | undefined;
  readonly name?: string | undefined;
}

export interface View {
  readonly fragment: string;
  readonly is_pinned: boolean;
  readonly name: string | null;
}

export interface ChatApi extends MessageSource {
  /** PATCH /settings. @throws Failure unknown where it may not be sent twice and no answer came */
  updateSettings(values: readonly Assignment[], repeat: 'safe' | 'if unprocessed'): Promise<Accepted>;
  /** The same messages as the text in which the server sends them. */
  readonly raw: MessageSource<RawMessage>;
  /** POST delete_topic, one request: whether the server says that all messages are gone. */
  deleteTopic(stream_id: number, topic_name: string): Promise<{ readonly complete: boolean }>;
  /** PATCH /navigation_views. @throws Failure unknown for a rename without an answer */
  updateView(fragment: string, change: ViewChange): Promise<Accepted & { readonly afterUnconfirmed: boolean }>;
  /** GET /navigation_views: undefined where the server has no such route. */
  views(): Promise<readonly View[] | undefined>;
  /** DELETE a snippet; one that is gone after an unconfirmed attempt counts as deleted. @throws Failure not_found */
  deleteSnippet(id: number): Promise<void>;
  /** GET /users/me, to read back what a change did: undefined where it is not answered. */
  ownUser(): Promise<JsonObject | undefined>;
  /** The feature level of the server; undefined where it does not say. Asked once. */
  level(): Promise<number | undefined>;
  /** The name of the organization; undefined where the server does not say. Asked once, together with the level. */
  organization(): Promise<string | undefined>;
}

const deleteTimeout = 75_000;

/** Each chat URL, basic auth left to `send`, and the result/msg/code envelope (docs/apis.md, Envelope and errors). */
export function chatApi(send: Send, sendUnauthenticated: Send): ChatApi {
  let known: Promise<ServerFacts> | undefined;
  const facts = (): Promise<ServerFacts> => (known ??= readServer(sendUnauthenticated));
  const level = async (): Promise<number | undefined> => (await facts()).level;
  // The level in whose words narrows are sent: the newest until the server proves to be older.
  let wordsLevel = Infinity;

  /** GET /messages, in the words that the server knows. */
  const ask = async (query: MessageQuery): Promise<Answer> => {
    const { narrow = [] } = query;
    const get = (): Promise<Answer> => send(messagesCall({ ...query, narrow: legacyNarrow(narrow, wordsLevel) }));
    const first = await get();
    if (narrow.length === 0 || !isBadNarrow(first)) return first;
    const hasOldWords = wordsLevel === Infinity && writeJson(legacyNarrow(narrow, 0)) !== writeJson(narrow);
    const found = hasOldWords || dependsOnLevel(narrow) ? await level() : undefined;
    if (!hasOldWords || found === undefined || found >= narrowLevels.channel) throw narrowRefusal(first, narrow, found);
    wordsLevel = found;
    const second = await get();
    if (isBadNarrow(second)) throw narrowRefusal(second, narrow, found);
    return second;
  };

  return {
    level,
    organization: async () => (await facts()).organization,

    async updateSettings(values, repeat) {
      const form = values.map(({ name, field, value }) => [name, formText(field.kind, value)] as const);
      const answer = await send({ method: 'PATCH', path: path`/api/v1/settings`, form, repeat });
      return repeat === 'safe' ? accept(answer) : acceptOnce(answer);
    },

    messages: async (query) => pageOf(await ask(query)),
    raw: { messages: async (query) => rawPageOf(await ask(query)) },

    async deleteTopic(stream_id, topic_name) {
      const answer = await send({
        method: 'POST',
        path: path`/api/v1/streams/${stream_id}/delete_topic`,
        form: [['topic_name', topic_name]],
        repeat: 'by caller',
        timeout: deleteTimeout,
      });
      if (isPartial(answer)) return { complete: false };
      const { ignored } = accept(answer);
      if (ignored.length > 0)
        throw new Failure('rejected', `the server ignored: ${ignored.join(', ')}`, { http: answer.http });
      return { complete: !isObject(answer.body) || answer.body['complete'] !== false };
    },

    async updateView(fragment, change) {
      const answer = await send({
        method: 'PATCH',
        path: path`/api/v1/navigation_views/${{ segments: fragment.split('/') }}`,
        form: [
          ...(change.is_pinned === undefined ? [] : [['is_pinned', String(change.is_pinned)] as const]),
          ...(change.name === undefined ? [] : [['name', change.name] as const]),
        ],
        repeat: change.name === undefined ? 'safe' : 'if unprocessed',
      });
      if (isMissingRoute(answer)) throw routeMissing(answer, 'navigation views', viewLevel, await level());
      const accepted = change.name === undefined ? accept(answer) : acceptOnce(answer);
      return { ...accepted, afterUnconfirmed: answer.afterUnconfirmed };
    },

    async views() {
      const answer = await send({ method: 'GET', path: path`/api/v1/navigation_views`, repeat: 'safe' });
      const views = isSuccess(answer) && isObject(answer.body) ? answer.body['navigation_views'] : undefined;
      return Array.isArray(views) ? views.filter(isView) : undefined;
    },

    async deleteSnippet(id) {
      const answer = await send({ method: 'DELETE', path: path`/api/v1/saved_snippets/${id}`, repeat: 'safe' });
      if (isMissingRoute(answer)) throw routeMissing(answer, 'saved snippets', snippetLevel, await level());
      if (isGoneSnippet(answer)) {
        if (answer.afterUnconfirmed) return;
        throw refusal(answer, 'not_found');
      }
      accept(answer);
    },

    async ownUser() {
      const answer = await send({ method: 'GET', path: path`/api/v1/users/me`, repeat: 'safe' });
      return isSuccess(answer) && isObject(answer.body) ? answer.body : undefined;
    },
  };
}

/** Strings go as they are, everything else as JSON (docs/apis.md, Parameters). */
function formText(kind: string, value: unknown): string | Secret {
  if (value instanceof Secret) return value;
  return kind === 'string' ? String(value) : writeJson(value);
}

/** Levels 154 to 210 answer so when a timeout left messages (docs/apis.md, Deleting a topic). */
function isPartial({ body }: Answer): boolean {
  return isObject(body) && body['result'] === 'partially_completed';
}

/** 404 in fact, 400 BAD_REQUEST by the specification: only the words distinguish it from other faults (docs/apis.md, Saved snippets). */
function isGoneSnippet({ status, body }: Answer): boolean {
  if (!isObject(body) || body['result'] !== 'error') return false;
  return status === 404 || (status === 400 && /does not exist/i.test(String(body['msg'])));
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

function isView(value: unknown): value is View {
  if (!isObject(value)) return false;
  const { fragment, is_pinned, name } = value;
  return typeof fragment === 'string' && typeof is_pinned === 'boolean' && (name === null || typeof name === 'string');
}
