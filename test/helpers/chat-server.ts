import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { runAlone, type Ran, type RunOptions } from './run.ts';

/**
 * A chat server on loopback of a few lines, written from recorded answers of a real one: it can hide history, ignore
 * narrows, and change its messages between two requests, as no well-behaved sandbox does.
 */
export interface ChatServerOptions {
  readonly messages: readonly ServedMessage[];
  readonly level?: number;
  /** Messages below this id are hidden by the plan. */
  readonly firstVisible?: number;
  /** `says`: in ignored_parameters_unsupported; `silent`: not at all. */
  readonly ignoresNarrow?: 'says' | 'silent' | undefined;
  /** The requests that are answered with an empty page whose flags are all false. */
  readonly hides?: (parameters: SeenRequest['parameters']) => boolean;
  /** Messages that one delete_topic call has time for; all of them without it. */
  readonly deletesPerCall?: number;
  /** The requests whose key is refused. */
  readonly refuses?: (request: SeenRequest) => boolean;
  /** What requests for an attached file are answered with. */
  readonly file?: Reply;
  /** What the n-th delete_topic call does (from 1 on) where it is not what a server of level 211 does. */
  readonly deleteReply?: (call: number) => DeleteReply | undefined;
  /** The messages that a delete_topic call removes, before it does. */
  readonly removed?: (messages: readonly ServedMessage[]) => void;
  /** What GET /users/me says of the account; without it, nothing. */
  readonly isAdmin?: boolean;
  /** Channels of which the account sees nothing. */
  readonly hiddenChannels?: readonly number[];
  /** Channels whose messages the account did not receive: a narrow on one of them alone finds these. */
  readonly unreceived?: readonly number[];
  /** What GET /streams lists, as it is then; without it, nothing. */
  /** What it lists with `exclude_archived=false`. */
  readonly archivedChannels?: readonly object[];
  readonly channels?: readonly {
    readonly stream_id: number;
    readonly name: string;
    readonly first_message_id?: number | null;
    readonly invite_only?: boolean;
    readonly history_public_to_subscribers?: boolean;
  }[];
  /** Before each answer: may change the messages. `calls` counts the delete_topic calls, this one included. */
  readonly meanwhile?: Meanwhile;
  /** From the end of this delete_topic call on, every other request is answered with 502. */
  readonly awayAfter?: number;
  /** What its clock shows, in milliseconds; without it no response has a Date. */
  readonly now?: number;
}

export type Meanwhile = (messages: ServedMessage[], request: SeenRequest, calls: number) => void;

export interface DeleteReply {
  readonly status?: number;
  readonly body?: object | string;
  /** Messages that are deleted; all without it. */
  readonly deletes?: number;
  /** The call is carried out, and no answer ever comes. */
  readonly hangs?: boolean;
}

export interface ServedMessage {
  readonly id: number;
  readonly timestamp: number;
  subject: string;
  stream_id: number;
  display_recipient: string;
  last_edit_timestamp?: number;
  content?: string;
  reactions?: readonly object[];
  submessages?: readonly object[];
  /** What answers show of it: an old copy of the cache, or one that is newer than the list of ids of the answer. */
  cached?: Partial<Pick<ServedMessage, 'subject' | 'stream_id' | 'display_recipient'>> | undefined;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface ChatServer {
  readonly messages: ServedMessage[];
  readonly seen: readonly SeenRequest[];
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>;
}

/** Messages of one topic, one a minute from `begins` (UTC seconds) on. */
export function topicOf(
  subject: string,
  ids: readonly number[],
  { stream_id = 5, channel = 'kitchen', begins = 1_772_000_000, every = 60 } = {},
): ServedMessage[] {
  return ids.map((id, index) => ({
    ...{ id, subject, stream_id, display_recipient: channel },
    timestamp: begins + index * every,
  }));
}

/** The integers from one to the other, both included. */
export function idsBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export async function openChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const messages = options.messages.map((message) => ({ ...message })).sort((one, other) => one.id - other.id);
  const seen: SeenRequest[] = [];
  let calls = 0;
  const server = createServer((incoming, outgoing) => {
    void readRequest(incoming).then((request) => {
      seen.push(request);
      if (request.path.endsWith('/delete_topic')) calls += 1;
      options.meanwhile?.(messages, request, calls);
      const { status, body, hangs } = answer(options, messages, request, calls);
      if (hangs) return;
      outgoing.sendDate = false;
      if (options.now !== undefined) outgoing.setHeader('date', new Date(options.now).toUTCString());
      outgoing.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
      outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  const env = await accountOn(server);
  return { messages, seen, run: (line, given = {}) => runAlone(line, { ...given, env: { ...env, ...given.env } }) };
}

/** Lets the server listen until the test ends; the environment of an account there. */
export async function accountOn(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'chat-key-9b2e44',
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  const parameters = Object.fromEntries([...url.searchParams, ...new URLSearchParams(body)]);
  return { method: incoming.method ?? '', path: url.pathname, parameters };
}

const success = { result: 'success', msg: '' };

interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly hangs?: boolean | undefined;
}

function answer(options: ChatServerOptions, messages: ServedMessage[], request: SeenRequest, calls: number): Reply {
  const { path, parameters } = request;
  if (options.refuses?.(request))
    return { status: 401, body: { result: 'error', code: 'UNAUTHORIZED', msg: 'Invalid API key' } };
  if (path.endsWith('/delete_topic')) return deleted(options, messages, calls, request);
  if (calls >= (options.awayAfter ?? Infinity)) return { status: 502, body: '<h1>Bad gateway</h1>' };
  const settings = { zulip_feature_level: options.level ?? 372, zulip_version: '10.2', realm_name: 'Harbour' };
  if (path.endsWith('/server_settings')) return { status: 200, body: { ...success, ...settings } };
  if (path.includes('/user_uploads/')) return options.file ?? { status: 403, body: '<p>You are not authorized.</p>' };
  if (path.endsWith('/users/me') && options.isAdmin !== undefined)
    return { status: 200, body: { ...success, is_admin: options.isAdmin } };
  if (path.endsWith('/streams') && parameters['exclude_archived'] === 'false' && options.archivedChannels)
    return { status: 200, body: { ...success, streams: options.archivedChannels } };
  if (path.endsWith('/streams') && options.channels)
    return { status: 200, body: { ...success, streams: options.channels } };
  const topicsOf = /\/users\/me\/(\d+)\/topics$/.exec(path)?.[1];
  if (topicsOf !== undefined) return { status: 200, body: { ...success, topics: topics(messages, Number(topicsOf)) } };
  const body = shown(found(options, messages, parameters));
  return { status: 'code' in body ? 400 : 200, body };
}

function shown<B extends { readonly messages?: readonly ServedMessage[] }>(body: B): B {
  return body.messages
    ? { ...body, messages: body.messages.map(({ cached, ...message }) => ({ ...message, ...cached })) }
    : body;
}

/** The topics of a channel with their newest messages, the newest first. */
function topics(messages: readonly ServedMessage[], stream: number): readonly object[] {
  const newest = new Map<string, { readonly name: string; readonly max_id: number }>();
  for (const { id, subject, stream_id } of messages)
    if (stream_id === stream) newest.set(subject.toLowerCase(), { name: subject, max_id: id });
  return [...newest.values()].sort((one, other) => other.max_id - one.max_id);
}

/** As a real server does: newest first, oldest last. */
function deleted(options: ChatServerOptions, all: ServedMessage[], call: number, request: SeenRequest): Reply {
  const stream = Number(/\/streams\/(\d+)\//.exec(request.path)?.[1]);
  const isTopic = same(request.parameters['topic_name'] ?? '');
  const reply = options.deleteReply?.(call);
  const most = reply?.deletes ?? options.deletesPerCall ?? Infinity;
  const doomed = all.filter((row) => row.stream_id === stream && isTopic(row.subject));
  const gone = new Set(doomed.slice(Math.max(0, doomed.length - most)));
  options.removed?.([...gone]);
  all.splice(0, all.length, ...all.filter((row) => !gone.has(row)));
  return {
    hangs: reply?.hangs,
    status: reply?.status ?? 200,
    body: reply?.body ?? { ...success, complete: doomed.length <= most },
  };
}

function found(
  options: ChatServerOptions,
  all: readonly ServedMessage[],
  parameters: SeenRequest['parameters'],
): { readonly messages?: readonly ServedMessage[]; readonly found_newest?: boolean } & Readonly<
  Record<string, unknown>
> {
  const { ignoresNarrow, firstVisible = 0, level = 372 } = options;
  const given = JSON.parse(parameters['narrow'] ?? '[]') as (Term | readonly [string, unknown])[];
  const narrow = given.map((term) => ('operator' in term ? term : { operator: term[0], operand: term[1] }));
  const unknown = narrow.find(
    ({ operator, operand }) => isChannel(operator) && !options.messages.some(inChannel(operand)),
  );
  if (unknown && ignoresNarrow === undefined)
    return {
      ...{ result: 'error', code: 'BAD_NARROW', desc: `unknown channel ${String(unknown.operand)}` },
      msg: `Invalid narrow operator: unknown channel ${String(unknown.operand)}`,
    };
  const named = narrow.filter(({ operator }) => isChannel(operator)).map(({ operand }) => operand);
  const shown = all.filter(
    ({ stream_id }) =>
      !options.hiddenChannels?.includes(stream_id) &&
      (!options.unreceived?.includes(stream_id) || named.includes(stream_id)),
  );
  const terms = ignoresNarrow === undefined ? narrow.map((term) => matching(term, all)) : [];
  const rows = shown.filter((row) => terms.every((isMatch) => isMatch(row)));
  const ignored = ignoresNarrow === 'says' ? { ignored_parameters_unsupported: ['narrow'] } : {};
  if (level >= 300 && parameters['message_ids'] !== undefined) {
    const wanted = new Set(JSON.parse(parameters['message_ids']) as number[]);
    const found = rows.filter((row) => row.id >= firstVisible && wanted.has(row.id));
    return { ...success, ...ignored, messages: found.reverse(), found_newest: false, history_limited: false };
  }
  const window = windowOf(rows, firstVisible, parameters);
  if (options.hides?.(parameters))
    return { ...success, ...window, messages: [], found_newest: false, found_oldest: false, history_limited: false };
  return { ...success, ...ignored, ...window };
}

type Match = (row: ServedMessage) => boolean;
type Term = { readonly operator: string; readonly operand: unknown };

const inChannel = (operand: unknown): Match => {
  const isName = same(String(operand));
  return (row) => (typeof operand === 'number' ? row.stream_id === operand : isName(row.display_recipient));
};

function matching({ operator, operand }: Term, all: readonly ServedMessage[]): Match {
  if (isChannel(operator)) return inChannel(operand);
  if (operator === 'with') {
    const { stream_id, subject } = all.find(({ id }) => id === operand) ?? {};
    return (row) => row.stream_id === stream_id && row.subject === subject;
  }
  const isTopic = same(String(operand));
  return (row) => operator !== 'topic' || isTopic(row.subject);
}

const isChannel = (operator: string): boolean => operator === 'channel' || operator === 'stream';

/** Whether a name is this one, whatever the case of its letters. */
function same(name: string): (other: string) => boolean {
  const lower = name.toLowerCase();
  return (other) => other === name || other.toLowerCase() === lower;
}

/** The window and its flags, limited history included, as recorded in examples/real-372 (`limited-…`). */
function windowOf(rows: readonly ServedMessage[], visible: number, parameters: SeenRequest['parameters']) {
  const anchorText = parameters['anchor'] ?? '';
  const anchor = anchorText === 'oldest' ? 0 : anchorText === 'newest' ? 1e16 : Number(anchorText);
  const [before, after] = [Number(parameters['num_before']), Number(parameters['num_after'])];
  const below = anchor === 0 ? [] : rows.filter(({ id }) => id < anchor).slice(before === 0 ? Infinity : -before);
  const at = parameters['include_anchor'] === 'false' ? [] : rows.filter(({ id }) => id === anchor);
  // From `oldest` the limit counts hidden rows too.
  const from = anchor === 0 ? 0 : Math.max(anchor + 1, visible);
  const above = anchor === 1e16 ? [] : rows.filter(({ id }) => id >= from).slice(0, after);
  const isShown = ({ id }: ServedMessage): boolean => id >= visible;
  const [older, newer] = [below.filter(isShown), above.filter(isShown)];
  const found_oldest = anchor === 0 || older.length < before;
  return {
    ...{ anchor, found_anchor: at.some(isShown), found_oldest },
    found_newest: anchor === 1e16 || newer.length < after,
    history_limited: found_oldest && older.length + newer.length < below.length + above.length,
    messages: [...older, ...at.filter(isShown), ...newer],
  };
}
