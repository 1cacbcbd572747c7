import { Failure, ifAnswered } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { Call, Parameters, Send } from '../http/call.ts';
import { path } from '../http/request.ts';
import { Secret } from '../../core/secret.ts';
import type { Assignment } from '../../schema/field.ts';
import { snippetLevel } from '../../schema/snippet.ts';
import { viewLevel } from '../../schema/view.ts';
import { type Answer, isSuccess } from '../http/answer.ts';
import { type CallLimits, type MessagePage, type MessageQuery, pageOf } from './chat-messages.ts';
import { asksInKnownWords } from './narrow-words.ts';
import { fetchUpload, type Keep } from './uploads.ts';
import { accept, acceptOnce, objectIn, refusal, refuseMissingRoute, rowsIn, withinUrl } from './chat-answer.ts';

export type ChatApi = ReturnType<typeof chatApi>;

/** Methods throw Failure as `accept` does; one that may not be sent twice throws unknown where no answer came. */
export function chatApi(sendAny: Send, sendUnauthenticated: Send) {
  const send = withinUrl(sendAny);
  let known: Promise<ServerFacts> | undefined;
  const facts = (): Promise<ServerFacts> => (known ??= readServer(sendUnauthenticated));
  /** The feature level of the server; undefined where it does not say. Asked once. */
  const level = async (): Promise<number | undefined> => (await facts()).level;
  const get = (route: Call['path'], query: Parameters = []): Promise<Answer> =>
    send({ method: 'GET', path: route, query, repeat: 'safe' });
  const ask = asksInKnownWords(send, level);
  return {
    level,
    /** The name of the organization; undefined where the server does not say. Asked once, together with the level. */
    organization: async (): Promise<string | undefined> => (await facts()).organization,
    /** GET /messages, one request, sorted by id. */
    messages: async (query: MessageQuery, limits?: CallLimits) => pageOf(await ask(query, limits)),
    /** The body of such an answer, and the page that is read from it. */
    envelope: async (query: MessageQuery): Promise<{ readonly body: JsonObject; readonly page: MessagePage }> => {
      const answer = await ask(query);
      const { body } = answer;
      return { body: isObject(body) ? body : {}, page: pageOf(answer) };
    },
    upload: <R>(upload: UploadPath, maxBytes: number, keep: Keep<R>) =>
      fetchUpload(send, sendUnauthenticated, upload, maxBytes, keep),
    /** The settings of the account; undefined where the server does not tell them. Leaves no event queue behind. */
    userSettings: async (): Promise<JsonObject | undefined> => {
      const once = (call: Pick<Call, 'method' | 'path' | 'form' | 'outlasts'>) =>
        send({ ...call, repeat: 'never', isRead: true });
      const events = [['fetch_event_types', '["user_settings"]'] as const, ['event_types', '[]'] as const];
      const register = path`/api/v1/register`;
      const body = objectIn(await once({ method: 'POST', path: register, form: events, outlasts: 'Ctrl-C' }));
      const queue_id = body?.['queue_id'];
      if (typeof queue_id === 'string') {
        const form = [['queue_id', queue_id] as const];
        await ifAnswered(once({ method: 'DELETE', path: path`/api/v1/events`, form, outlasts: 'earlier Ctrl-C' }));
      }
      const settings = body?.['user_settings'];
      return isObject(settings) ? settings : undefined;
    },

    /** Strings are sent unchanged, all else as JSON (docs/apis.md, Parameters). */
    updateSettings: async (values: readonly Assignment[], repeat: 'safe' | 'if unprocessed') => {
      const form = values.map(({ name, field, value }) => {
        const text = field.kind === 'string' ? String(value) : writeJson(value);
        return [name, value instanceof Secret ? value : text] as const;
      });
      const answer = await send({ method: 'PATCH', path: path`/api/v1/settings`, form, repeat });
      return repeat === 'safe' ? accept(answer) : acceptOnce(answer);
    },

    /** One request: whether the server says that all messages are gone. `before` is called right before it is sent. */
    deleteTopic: async (stream_id: number, topic_name: string, before?: () => Promise<void>) => {
      const what = {
        path: path`/api/v1/streams/${stream_id}/delete_topic`,
        form: [['topic_name', topic_name] as const],
      };
      const how = { before, repeat: 'by caller', outlasts: 'Ctrl-C', timeout: deleteTimeout } as const;
      return deletion(await send({ method: 'POST', ...what, ...how }));
    },

    updateView: async (fragment: string, { is_pinned, name }: ViewChange) => {
      const form = [
        ...(is_pinned === undefined ? [] : [['is_pinned', String(is_pinned)] as const]),
        ...(name === undefined ? [] : [['name', name] as const]),
      ];
      const url = path`/api/v1/navigation_views/${{ segments: fragment.split('/') }}`;
      const repeat = name === undefined ? 'safe' : 'if unprocessed';
      const answer = await send({ method: 'PATCH', path: url, form, repeat });
      await refuseMissingRoute(answer, 'navigation views', viewLevel, level);
      const { ignored } = name === undefined ? accept(answer) : acceptOnce(answer);
      return { ignored, afterUnconfirmed: answer.afterUnconfirmed };
    },

    /** Creates a view that has no row on the server yet. */
    createView: async ({ fragment, is_pinned }: Pick<View, 'fragment' | 'is_pinned'>) => {
      const form = [['fragment', fragment] as const, ['is_pinned', String(is_pinned)] as const];
      return accept(await send({ method: 'POST', path: path`/api/v1/navigation_views`, form, repeat: 'safe' }));
    },

    /** Deletes a snippet; one that is gone after an unconfirmed attempt counts as deleted. */
    deleteSnippet: async (id: number): Promise<void> => {
      const answer = await send({ method: 'DELETE', path: path`/api/v1/saved_snippets/${id}`, repeat: 'safe' });
      await refuseMissingRoute(answer, 'saved snippets', snippetLevel, level);
      if (!isGoneSnippet(answer)) accept(answer);
      else if (!answer.afterUnconfirmed) throw refusal(answer, 'not_found');
    },

    // Lists of what the account can see; undefined where the server has no such route.
    views: async () => rowsIn(await get(path`/api/v1/navigation_views`), 'navigation_views')?.filter(isView),
    snippets: async () => rowsIn(await get(path`/api/v1/saved_snippets`), 'saved_snippets'),
    users: async () => rowsIn(await get(path`/api/v1/users`), 'members'),
    channels: async () => rowsIn(await get(path`/api/v1/streams`), 'streams'),
    /** All channels, archived ones included. */
    archivedChannels: async () => rowsIn(await get(path`/api/v1/streams`, [['exclude_archived', 'false']]), 'streams'),
    /** The topics of a channel, the one with the newest message first; undefined of an archived one too. */
    topics: async (stream_id: number) => {
      const answer = await get(path`/api/v1/users/me/${stream_id}/topics`, [['allow_empty_topic_name', 'true']]);
      return answer.status === 400 ? undefined : rowsIn(answer, 'topics');
    },
    ownUser: async () => objectIn(await get(path`/api/v1/users/me`)),
  };
}

interface ServerFacts {
  readonly level?: number | undefined;
  readonly organization?: string | undefined;
}

/** Asked without credentials; no answer means unknown, which counts as the newest (docs/apis.md, Feature levels). */
async function readServer(send: Send): Promise<ServerFacts> {
  try {
    const call = { method: 'GET', path: path`/api/v1/server_settings`, repeat: 'never', timeout: 3000 } as const;
    const { body, status } = await send(call);
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

export interface ViewChange {
  readonly is_pinned?: boolean | undefined;
  readonly name?: string | undefined;
}

export interface View {
  readonly fragment: string;
  readonly is_pinned: boolean;
  readonly name?: string | null;
}

const deleteTimeout = 75_000;

/** @throws Failure rejected where the server ignored a part of the request */
function deletion(answer: Answer): { readonly complete: boolean } {
  // Levels 154 to 210 answer so when a timeout left messages (docs/apis.md, Deleting a topic).
  if (isSuccess(answer) && isObject(answer.body) && answer.body['result'] === 'partially_completed')
    return { complete: false };
  const { ignored } = accept(answer);
  if (ignored.length > 0)
    throw new Failure('rejected', `the server ignored: ${ignored.join(', ')}`, { http: answer.http });
  return { complete: !isObject(answer.body) || answer.body['complete'] !== false };
}

/** 404 in fact, 400 BAD_REQUEST by the specification: only the words tell (docs/apis.md, Saved snippets). */
function isGoneSnippet({ status, body }: Answer): boolean {
  if (!isObject(body) || body['result'] !== 'error') return false;
  return status === 404 || (status === 400 && /does not exist/i.test(String(body['msg'])));
}

function isView(row: JsonObject): row is JsonObject & View {
  const { fragment, is_pinned, name } = row;
  return typeof fragment === 'string' && typeof is_pinned === 'boolean' && typeof (name ?? '') === 'string';
}

/** An account's key by its password, in one attempt; `send` shows no bodies. @throws Failure auth for a wrong one */
export async function fetchKey(send: Send, email: string, password: Secret): Promise<Secret> {
  const form = [['username', email] as const, ['password', password] as const];
  const answer = await send({ method: 'POST', path: path`/api/v1/fetch_api_key`, form, repeat: 'by caller' });
  try {
    accept(answer);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'auth') throw cause;
    throw cause.as('auth', cause.message, {
      hint: 'Check address and password. If the organization signs in some other way, omit --password and paste the key: in the app, Settings, Account & privacy, API key.',
    });
  }
  const key = isObject(answer.body) ? answer.body['api_key'] : undefined;
  if (typeof key === 'string' && key !== '') return new Secret(key);
  const { http } = answer;
  throw new Failure('unavailable', 'the chat server accepted the password, but its response has no key', { http });
}
