import { createAllowance } from '../../src/sandbox/allowance.ts';
import { json, proxyPage, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import { answerChat } from '../../src/sandbox/chat.ts';
import type { ChatService } from '../../src/sandbox/chat/chat-call.ts';
import { addMessage } from '../../src/sandbox/chat/post.ts';
import type { MessageRecord } from '../../src/sandbox/records.ts';
import { sampleChannels, sampleOrganization, samplePeople } from '../../src/sandbox/sample/organization.ts';
import { createStore, type State } from '../../src/sandbox/state.ts';
import { fileServer, type FileServer, type FilesPlan } from './attached-files.ts';
import type { Process, World } from './computer.ts';
import { unusedClock } from './licensing-server.ts';
import type { Reply, Server } from './network.ts';

/** How the server replies to one request. */
export const chatReplies = [
  ...(['made', 'dropped', '500', '502', '504', 'nothing', 'cut', '429', 'whole'] as const),
  ...(['empty', 'short'] as const),
] as const;
export type ChatReplyName = (typeof chatReplies)[number];

/**
 * Kinds of requests: those that read messages, among them the first of each look at the topic and those for what has
 * come since; and those that delete.
 */
export type Call = 'read' | 'look' | 'since' | 'delete';

/** What befalls one request: the `nth` (from 1) of its kind. */
export interface ChatMishap {
  readonly call: Call;
  readonly nth: number;
  /** It befalls each `nth` request, also when the other faults have ended. */
  readonly stays?: boolean;
  /**
   * Of a deletion: `whole` does nothing, and says that the topic is deleted, as after a wait for a move. Of a page:
   * `empty` has no message and does not say why, `short` has half of them and says that there are more.
   */
  readonly reply: ChatReplyName;
  /**
   * When a deletion is carried out, in milliseconds after it arrived; never where there is none. The reply is not
   * earlier.
   */
  readonly commit?: number;
  /** Of a deletion: how many batches it has time for; without a number as many as there are. */
  readonly batches?: number;
}

export const deedNames = [
  'post',
  'edit',
  'react',
  'move',
  'newer',
  'hide',
  'vault',
  'back',
  'rename',
  'hide-all',
  'remove',
  'rename-channel',
] as const;

/** What people do meanwhile, so many milliseconds after the beginning, or after a request arrived. */
export interface Deed {
  readonly at: number;
  readonly on?: Pick<ChatMishap, 'call' | 'nth'>;
  /**
   * `hide`, `hide-all`: into a channel that the account cannot read; `vault`: into a private one that it joined later.
   * `newer`: the page that is asked for has the ids of before
   * a move and the messages of after it. `limit`: the plan begins to hide this message and all before it.
   */
  readonly does: (typeof deedNames)[number] | 'limit';
  /** Of the message, from the oldest at the beginning. */
  readonly nth: number;
  /** What of the topic moves with it; the message alone without it. */
  readonly which?: 'all' | 'older' | 'newer';
  /** Where it goes; to the topic `elsewhere` of the channel without it. */
  readonly to?: Partial<Place>;
}

interface Place {
  readonly stream_id: number;
  readonly subject: string;
}

/** A message that a request of ours deleted. */
export interface Deletion {
  readonly message: MessageRecord;
  readonly at: number;
  /** When it came into the topic, or was edited last. */
  readonly changed: number;
  readonly call: DeleteCall;
}

interface Asked {
  readonly client: Process;
  readonly at: number;
  readonly ids: readonly number[];
  /** Where they are asked for; none: among what the account received. */
  readonly channels: readonly number[];
}

/** A message from some moment on; without one where it is removed. */
export interface Version {
  readonly at: number;
  readonly message: MessageRecord | undefined;
}

/** One page of a look: all messages of the topic from the id `low` to `high`. */
interface Page {
  readonly at: number;
  readonly low: number;
  readonly high: number;
  readonly ids: readonly number[];
  /** Whether it is of what has come since. */
  readonly isSince: boolean;
}

/** A look at the topic, from the newest message downward, and what came since. */
export interface Look {
  readonly client: Process;
  readonly at: number;
  readonly pages: Page[];
}

/** A call to delete; `end` is what its client was told, if it lived. */
export interface DeleteCall {
  readonly client: Process;
  readonly at: number;
  /** The looks of the client before it, the last one last. */
  readonly looks: readonly Look[];
  /** Messages in the topic when it arrived. */
  readonly size: number;
  deleted: number;
  end: { readonly at: number; readonly is: 'answered' | 'crossed' | 'failed' } | undefined;
}

export type Step = Look | DeleteCall;

export interface ChatServer {
  readonly server: Server;
  /** Looks and calls in their order. */
  readonly steps: readonly Step[];
  /** What each message was, by id, from its first version on. */
  readonly versions: ReadonlyMap<number, readonly Version[]>;
  readonly state: State;
  readonly files: FileServer | undefined;
  /** The messages of the topic at the beginning. */
  readonly first: readonly number[];
  readonly deletions: readonly Deletion[];
  /** Requests for messages by their ids that were answered. */
  readonly asked: readonly Asked[];
  /** Messages that left the sight of the account, or the server, through other people: when, by id. */
  readonly unseen: ReadonlyMap<number, number>;
  /** Every later request is answered as it should be, and people are done. */
  heal(): void;
}

export const topic = 'plans';
/** Its name as the server compares names; the empty topic has names of its own. */
export function foldSubject(subject: string | undefined = ''): string {
  return /^(\(no topic\)|general chat)$/.test(subject) ? '' : subject.toLowerCase();
}
export const isTopic = (subject: string | undefined): boolean => foldSubject(subject) === topic;
export const account = samplePeople.find(({ role, bot }) => role === 'administrator' && bot === 'none');
export const channelId = 1;
/** Another one that is public. */
export const otherId = 2;
const hiddenId = 900;
export const vaultId = 901;

export function chatServer(
  world: World,
  plan: {
    readonly messages: number;
    readonly elsewhere?: number;
    readonly perHour?: number;
    readonly level?: number;
    readonly batches?: number;
    readonly mishaps?: readonly ChatMishap[];
    readonly people?: readonly Deed[];
    readonly take?: Pick<Deed, 'at' | 'on'>;
    readonly files?: FilesPlan;
  },
  take: () => void,
): ChatServer {
  const { time } = world;
  const clock = { ...unusedClock, now: () => time.now() };
  const files = plan.files && fileServer(world, plan.files);
  const naming = (text: string, file?: number): string =>
    files ? `${text}, ${files.named(file ?? files.next())}` : text;
  const store = createStore((state) => {
    state.organization.put('chat', sampleOrganization);
    for (const user of samplePeople) state.users.put(user.user_id, user);
    for (const channel of sampleChannels) state.channels.put(channel.stream_id, channel);
    const hidden = { stream_id: hiddenId, name: 'hidden', privacy: 'private', shared_history: false } as const;
    state.channels.put(hiddenId, {
      ...hidden,
      ...{ archived: false, recipient_id: 900, subscribers: [{ user_id: 10, since: 0 }], muted_by: [] },
    });
    state.channels.put(vaultId, {
      ...{ stream_id: vaultId, name: 'vault', privacy: 'private', shared_history: true, archived: false },
      ...{ recipient_id: vaultId, subscribers: [{ user_id: account?.user_id ?? 0, since: Infinity }], muted_by: [] },
    });
    for (let index = 0; index < plan.messages; index += 1)
      write(
        state,
        naming(`message ${index}`, index % (plan.files?.count ?? 1)),
        time.now() - (plan.messages - index) * 60_000,
      );
    for (let index = 0; index < (plan.elsewhere ?? 0); index += 1)
      write(state, `other message ${index}`, time.now() - 1000, 'elsewhere');
  });
  const { state } = store;
  const rates = { perMinute: 100_000, perHour: plan.perHour ?? 1_000_000 };
  const service: ChatService = {
    ...{ state, clock, level: plan.level ?? 489, rates, deleteBatches: plan.batches ?? 1000 },
    allowance: createAllowance(),
  };
  const first = state.messages.rows().flatMap(({ id, subject }) => (isTopic(subject) ? [id] : []));
  const start = time.now();
  const changed = new Map<number, number>();
  const unseen = new Map<number, number>();
  const deletions: Deletion[] = [];
  let left = plan.mishaps ?? [];
  const steps: Step[] = [];
  const asked: Asked[] = [];
  const versions = new Map(state.messages.rows().map((message) => [message.id, [{ at: start, message }] as Version[]]));
  const keepVersion = (id: number): void => {
    const before = versions.get(id) ?? [];
    versions.set(id, [...before, { at: time.now(), message: state.messages.get(id) }]);
  };

  const put = (message: MessageRecord): void => {
    state.messages.put(message.id, message);
    keepVersion(message.id);
    changed.set(message.id, time.now());
    // Below this level a purge asks for a sample of the ids alone (docs/apis.md, Deleting a topic).
    if ((!isTopic(message.subject) || message.stream_id !== channelId) && service.level < 300)
      unseen.set(message.id, time.now());
  };
  const moved = (message: MessageRecord, to: Partial<MessageRecord>): MessageRecord => {
    const now = Math.floor(time.now() / 1000);
    const entry = { user_id: 9, timestamp: now, prev_topic: message.subject, topic: to.subject ?? message.subject };
    const { cached: _, ...known } = message;
    return { ...known, ...to, last_moved_timestamp: now, edit_history: [entry, ...(message.edit_history ?? [])] };
  };
  const limit = (first_visible_message_id: number): void =>
    state.organization.put('chat', { ...sampleOrganization, first_visible_message_id });
  const deeds = {
    edit(message: MessageRecord) {
      const now = Math.floor(time.now() / 1000);
      const content = naming(`${message.content}!`);
      const entry = { user_id: 9, timestamp: now, prev_content: message.content };
      const edit_history = [entry, ...(message.edit_history ?? [])];
      put({ ...message, content, rendered: `<p>${content}</p>`, last_edit_timestamp: now, edit_history });
    },
    react(message: MessageRecord) {
      const reaction = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji', user_id: 9 } as const;
      put({ ...message, reactions: [...message.reactions, reaction] });
    },
    move: (message: MessageRecord, to: Partial<Place>) => put(moved(message, to)),
    newer(message: MessageRecord, to: Partial<Place>) {
      put({ ...message, cached: { stream_id: message.stream_id ?? channelId, subject: message.subject, ...to } });
      time.after(0, () => {
        const now = state.messages.get(message.id);
        if (now) put(moved(now, to));
        store.keep();
      });
    },
    hide(message: MessageRecord) {
      unseen.set(message.id, time.now());
      put(moved(message, { stream_id: hiddenId }));
    },
    vault: (message: MessageRecord) => put(moved(message, { stream_id: vaultId })),
    back: (message: MessageRecord) => put(moved(message, { stream_id: channelId, subject: topic })),
    remove(message: MessageRecord) {
      unseen.set(message.id, time.now());
      state.messages.remove(message.id);
      keepVersion(message.id);
    },
  };
  /** What is done to the topic or its channel, whatever became of the nth message. */
  const deedsOfAll = {
    post() {
      const id = write(state, naming('posted meanwhile'), time.now());
      changed.set(id, time.now());
      keepVersion(id);
    },
    'hide-all'() {
      for (const row of state.messages.rows()) if (isTopic(row.subject)) deeds.hide(row);
    },
    rename() {
      for (const row of state.messages.rows()) if (isTopic(row.subject)) put(moved(row, { subject: 'renamed' }));
    },
    'rename-channel'() {
      const channel = state.channels.get(channelId);
      if (channel) state.channels.put(channelId, { ...channel, name: `${channel.name}-too` });
    },
  };
  /** The message, or with it a half or all of its topic as it was at the beginning. */
  const chosen = ({ nth, which }: Deed): readonly number[] => {
    const place = nth % first.length;
    if (which === 'older') return first.slice(0, place + 1);
    return which === 'newer' ? first.slice(place) : which === 'all' ? first : first.slice(place, place + 1);
  };
  const meet = (deed: Deed): void => {
    const { at, does, nth, to: asked = { subject: 'elsewhere' } } = deed;
    // Older servers have no empty topic, and this one in its place.
    const to = asked.subject === '' && service.level < 334 ? { ...asked, subject: '(no topic)' } : asked;
    const act = (): void => {
      if (does === 'limit') limit((first[nth % first.length] ?? 0) + 1);
      else if (does in deedsOfAll) deedsOfAll[does as keyof typeof deedsOfAll]();
      else change(does as keyof typeof deeds);
      store.keep();
      world.tell('people', () => `${does} message ${first[nth % first.length]}${deed.which ? ` (${deed.which})` : ''}`);
    };
    const change = (does: keyof typeof deeds): void => {
      for (const id of chosen(deed)) {
        const message = state.messages.get(id);
        const target = does === 'back' ? { stream_id: channelId, subject: topic } : to;
        const { stream_id = message?.stream_id, subject = message?.subject } = target;
        // A server takes no move to where a message is.
        const isMove = message?.stream_id !== stream_id || message?.subject !== subject;
        if (message && (isMove || !/^(move|newer|back)$/.test(does))) deeds[does](message, to);
      }
    };
    // The list of ids of the request that has just arrived is of now.
    if (does === 'newer') act();
    else time.after(at, act);
  };
  let people = plan.people ?? [];
  for (const deed of people) if (!deed.on && deed.does !== 'newer') meet(deed);

  const carryOut = (request: Parameters<Server>[0], call: DeleteCall, batches: number): SandboxAnswer => {
    const before = new Map(state.messages.rows().map((message) => [message.id, message]));
    const answer = answerChat({ ...service, deleteBatches: batches }, request);
    store.keep();
    for (const [id, message] of before)
      if (!state.messages.get(id)) {
        keepVersion(id);
        deletions.push({ message, at: time.now(), changed: changed.get(id) ?? start, call });
        call.deleted += 1;
      }
    world.tell('server', () => `${before.size - state.messages.rows().length} messages are deleted`);
    return answer;
  };
  const counts = new Map<Call, number>();
  /** Counts the request as one of these kinds; what befalls it, and what people do at it. */
  const befalling = (calls: readonly Call[]): ChatMishap | undefined => {
    let found: ChatMishap | undefined;
    for (const call of calls) {
      const nth = (counts.get(call) ?? 0) + 1;
      counts.set(call, nth);
      found ??= left.find((one) => one.call === call && (one.stays ? nth % one.nth === 0 : one.nth === nth));
      for (const deed of people) if (deed.on?.call === call && deed.on.nth === nth) meet(deed);
      if (plan.take?.on?.call === call && plan.take.on.nth === nth) time.after(plan.take.at, take);
    }
    return found;
  };
  const looksOf = (client: Process): Look[] =>
    steps.filter((step): step is Look => 'pages' in step && step.client === client);
  /** The request for each client's last page, where messages of it named another place. */
  const strayed = new Map<Process, string>();
  /** Notes what a page of a look shows. One whose places are not proven is not used: it is read once more. */
  const note = (client: Process, query: URLSearchParams, kind: 'look' | 'below' | 'since', answer: Reply): void => {
    const at = time.now();
    const before = looksOf(client).at(-1);
    if (before && strayed.get(client) === String(query)) {
      before.pages.pop();
      if (kind === 'look') steps.splice(steps.indexOf(before), 1);
    }
    strayed.delete(client);
    if (kind === 'look') steps.push({ client, at, pages: [] });
    if (!('answer' in answer) || answer.kind === 'cut' || answer.answer.status !== 200) return;
    const page = JSON.parse(answer.answer.body) as PageBody;
    const ids = page.messages.map(({ id }) => id);
    const isOther = page.messages.some(({ subject, stream_id }) => !isTopic(subject) || stream_id !== channelId);
    if (isOther) strayed.set(client, String(query));
    const anchor = kind === 'look' ? Infinity : Number(query.get('anchor'));
    const [lowest, highest] = [Math.min(...ids, anchor), Math.max(...ids, anchor)];
    const range =
      kind === 'since'
        ? { low: anchor + 1, high: page.found_newest ? Infinity : highest }
        : { low: page.found_oldest ? -Infinity : lowest, high: anchor - 1 };
    looksOf(client)
      .at(-1)
      ?.pages.push({ at, ...range, ids, isSince: kind === 'since' });
  };
  const server: Server = (request, client, reply) => {
    const { path, query } = request;
    const ofFile = files?.take(request, client, () => answerChat(service, request));
    if (ofFile) {
      reply(ofFile);
      return;
    }
    const isRead = path.endsWith('/messages');
    const kind = isRead ? kindOf(query) : undefined;
    if (!path.endsWith('/delete_topic')) {
      const calls: Call[] = kind === 'look' || kind === 'since' ? ['read', kind] : ['read'];
      const name = (isRead ? befalling(calls) : undefined)?.reply ?? 'made';
      const made = replyOf(name, answerChat(service, request), query.get('num_before') === '0', 1.5);
      if (kind) note(client, query, kind, made);
      const ids = query.get('message_ids');
      if (ids !== null && name === 'made' && 'answer' in made && made.answer.status === 200)
        asked.push({ client, at: time.now(), ids: JSON.parse(ids) as number[], channels: channelsIn(query) });
      reply(made);
      return;
    }
    const mishap = befalling(['delete']);
    const size = state.messages.rows().filter((row) => isTopic(row.subject) && row.stream_id === channelId).length;
    // What is carried out late has the looks from before it was sent.
    const call: DeleteCall = { client, at: time.now(), looks: looksOf(client), size, deleted: 0, end: undefined };
    steps.push(call);
    strayed.delete(client);
    const batches = mishap?.batches ?? service.deleteBatches;
    const name = mishap?.reply ?? 'made';
    const answer = (made: SandboxAnswer): void => {
      const isAnswered = ['made', 'whole', 'empty', 'short'].includes(name) && made.status === 200;
      call.end = { at: time.now(), is: isAnswered ? 'answered' : name === '500' ? 'crossed' : 'failed' };
      reply(replyOf(name, made));
    };
    const commit = mishap ? mishap.commit : 0;
    if (commit === undefined || name === 'whole') {
      answer(json(200, { result: 'success', msg: '', complete: true }));
      return;
    }
    // Whoever gets no answer sees the end of the connection at once; the server goes on.
    const isOpen = ['made', '500', 'cut'].includes(name);
    if (!isOpen) answer(json(200, {}));
    time.after(commit, () => {
      const made = carryOut(request, call, batches);
      if (isOpen) answer(made);
    });
  };
  const heal = (): void => {
    left = left.filter(({ stays }) => stays);
    people = [];
    limit(0);
    rates.perHour = 1_000_000;
    files?.heal();
  };
  return { server, state, files, steps, asked, versions, first, deletions, unseen, heal };
}

interface PageBody {
  readonly messages: readonly ({ readonly id: number } & Place)[];
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
}

/** What a request for messages is in a purge: the first page of a look, one below it, or what has come since. */
function kindOf(query: URLSearchParams): 'look' | 'below' | 'since' | undefined {
  if (!query.get('narrow')?.includes(topic) || query.get('apply_markdown') !== 'false') return undefined;
  const isBelow = query.get('num_after') === '0' && Number(query.get('num_before')) > 1;
  if (isBelow) return query.get('anchor') === 'newest' ? 'look' : 'below';
  return query.get('include_anchor') === 'false' ? 'since' : undefined;
}

function channelsIn(query: URLSearchParams): number[] {
  const narrow = query.get('narrow') ?? '';
  const [channel] = /(?<="operand":)\d+/.exec(narrow) ?? [];
  return channel !== undefined ? [Number(channel)] : narrow.includes('public') ? [channelId, otherId] : [];
}

function write(state: State, content: string, now: number, subject = topic): number {
  return addMessage(state, { stream_id: channelId, subject, sender_id: 9, content }, now);
}

/** A delete call is asked to wait for longer than it may after its look. */
function replyOf(name: ChatReplyName, answer: SandboxAnswer, isUpward = true, wait = 3.5): Reply {
  if (name === 'dropped' || name === 'nothing') return { kind: name };
  if (name === 'cut') return { kind: 'cut', answer };
  if (name === 'empty' || name === 'short')
    return { kind: 'answer', answer: cutPage(answer, name === 'short', isUpward) };
  if (name === 'made' || name === 'whole') return { kind: 'answer', answer };
  if (name === '429') {
    const body = { result: 'error', msg: 'API usage exceeded rate limit', code: 'RATE_LIMIT_HIT', 'retry-after': wait };
    return { kind: 'answer', answer: json(429, body, { 'retry-after': `${wait}` }) };
  }
  if (name === '500') return { kind: 'answer', answer: json(500, { result: 'error', msg: 'Internal server error' }) };
  return { kind: 'answer', answer: proxyPage(Number(name)) };
}

/** A page with half of its messages, or none, which does not say that it is the last. */
function cutPage(answer: SandboxAnswer, isHalf: boolean, isUpward: boolean): SandboxAnswer {
  const page = JSON.parse(answer.body) as { readonly messages?: readonly unknown[] };
  const { messages = [] } = page;
  if (answer.status !== 200 || (isHalf && messages.length < 2)) return answer;
  const half = Math.ceil(messages.length / 2);
  const left = !isHalf ? [] : isUpward ? messages.slice(0, half) : messages.slice(half);
  return json(200, { ...page, messages: left, found_newest: false, found_oldest: false });
}
