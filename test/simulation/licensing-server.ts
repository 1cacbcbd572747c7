import { createAllowance } from '../../src/sandbox/allowance.ts';
import { answerLicensing } from '../../src/sandbox/licensing.ts';
import type { LicensingService } from '../../src/sandbox/licensing/licensing-call.ts';
import { frontOf, type LicenseShape } from '../helpers/license-shapes.ts';
import { createLag } from '../../src/sandbox/licensing/visible.ts';
import type { LicenseRecord } from '../../src/sandbox/records.ts';
import { json, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';
import { createStore } from '../../src/sandbox/state.ts';
import type { Process, World } from './computer.ts';
import { answerWith, type Habits } from './habits.ts';
import type { Reply, Server } from './network.ts';
import { replies, type ReplyName } from './replies.ts';
import { serverQueue, type QueuePlan } from './server-queue.ts';

/** What befalls one request: the `nth` (from 1) of that method. */
export interface Mishap {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly nth: number;
  readonly reply: ReplyName;
  /** When it is carried out, in milliseconds after it arrived; never where there is none. */
  readonly commit?: number;
}

/** A license that exists before the first run, or that another program issues at that moment. */
export interface OtherLicense {
  readonly user: string;
  readonly size: number;
  /** Without one it is of the first application. */
  readonly app?: number;
  /** Milliseconds after the beginning; 0: before the first run. */
  readonly at: number;
}

/** A request for a license, and how it was replied to. */
export interface SentPost {
  readonly user: string;
  readonly reply: ReplyName;
  readonly client: Process;
  readonly at: number;
  /** When the client had an answer, and when a server with a queue carried it out. */
  readonly replied?: number;
  readonly done?: number;
  /** Of the license that it made, which the server may not have kept. */
  readonly code?: string | undefined;
}

/** A license as a change leaves it. */
export interface ServedFields {
  readonly remote_user: string;
  readonly size_allowance: number;
}

/** A request that changes a license, and how it was carried out. */
export interface SentChange {
  readonly code: string;
  readonly asked: Partial<ServedFields>;
  readonly client: Process;
  /** When it was carried out, with the license before and after it; undefined where it was not. */
  readonly done?: { readonly at: number; readonly before: ServedFields; readonly after: ServedFields };
}

/** What befalls the requests with the key of an application: `count` of them, from the `from`th on. */
export interface KeyTrouble {
  readonly app: number;
  readonly does: 'refuse' | 'delay';
  readonly from: number;
  readonly count: number;
}

/** A request whose key was refused, and when the client asked for licenses with the same key later. */
export interface KeyRefusal {
  readonly client: Process;
  readonly app: number;
  readonly at: number;
  readonly later: number[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface LicensingServer {
  readonly server: Server;
  /** Every license, as it is in truth. */
  licenses(): readonly LicenseRecord[];
  /** Requests for licenses, in their order. */
  readonly posts: SentPost[];
  /** Requests that change a license, in their order. */
  readonly changes: SentChange[];
  readonly refusals: KeyRefusal[];
  /** Every later request is answered as it should be, and lists no longer move. */
  heal(): void;
}

export const application = 4711;
export const secondApplication = 4712;
const keyPrefix = 'sandbox-key-of-app-';
export const licensingKey = `${keyPrefix}${application}`;

/** A user of the second application is another one than that of the same name in the first one. */
export function ownerOf(user: string, app: number | null | undefined = application): string {
  return app === secondApplication ? `${user}@${app}` : user;
}

export function licensingServer(
  world: World,
  mishaps: readonly Mishap[],
  others: readonly OtherLicense[],
  shape: LicenseShape = {},
  {
    queue: queued,
    habits = {},
    trouble,
  }: { readonly queue?: QueuePlan; readonly habits?: Habits; readonly trouble?: KeyTrouble } = {},
): LicensingServer {
  const { time } = world;
  const clock = { ...unusedClock, now: () => time.now() };
  const store = createStore(() => undefined);
  const lag = createLag(clock, shape.stale ?? 0);
  const service: LicensingService = {
    ...{ state: store.state, clock, shape: {}, lag, front: frontOf(shape) },
    ...{ allowance: createAllowance(), perMinute: undefined },
  };
  let left = mishaps;
  let isHealed = false;
  const begin = time.now();
  let otherCount = 0;
  const issue = ({ user, size, at, app = application }: OtherLicense): void => {
    const license_code = `OTHER-${(otherCount += 1)}`;
    const created = new Date(time.now()).toISOString();
    const license = { license_code, remote_user: user, app_code: app, size_allowance: size, created };
    store.state.licenses.put(license_code, license);
    store.keep();
    if (at > 0) lag.note(license_code, undefined);
    world.tell('others', () => `another program issued a license of ${user}`);
  };
  for (const other of others)
    if (other.at === 0) issue(other);
    else world.time.after(other.at, () => issue(other));

  const queue = queued && serverQueue(world, queued);
  const answer = (request: SandboxRequest): SandboxAnswer =>
    answerWith(isHealed ? { ...habits, gaps: [] } : habits, request, time.now() - begin, (one) =>
      answerLicensing(service, one),
    );
  const counts = new Map<string, number>();
  let ofKey = 0;
  /** Whether the request is one of those that befalls what the trouble does. */
  const isTroubled = ({ headers }: SandboxRequest): boolean => {
    if (!trouble || isHealed || headers.authorization?.endsWith(`${keyPrefix}${trouble.app}`) !== true) return false;
    ofKey += 1;
    return trouble.from <= ofKey && ofKey < trouble.from + trouble.count;
  };
  /** The change that a request asks for; `carryOut` does it, and keeps what it did. */
  const changeOf = (request: SandboxRequest, client: Process) => {
    const change: Writable<SentChange> = { code: codeIn(request), asked: fieldsIn(request), client };
    if (/^(PATCH|PUT)$/.test(request.method)) server.changes.push(change);
    const license = () => store.state.licenses.rows().find(({ license_code }) => license_code === change.code);
    return {
      carryOut<T>(work: () => T): T {
        const before = license();
        const result = work();
        const after = license();
        if (before && after) change.done = { at: time.now(), before: { ...before }, after: { ...after } };
        return result;
      },
      undo: () => void delete change.done,
    };
  };
  const server: LicensingServer = {
    posts: [],
    changes: [],
    refusals: [],
    licenses: () => store.state.licenses.rows(),
    heal() {
      left = [];
      isHealed = true;
      queue?.empty();
    },
    server(request, client, reply) {
      const { method, target } = request;
      const does = isTroubled(request) ? trouble?.does : undefined;
      for (const { later, app, client: other } of server.refusals)
        if (other === client && method === 'POST' && request.headers.authorization?.endsWith(String(app)) === true)
          later.push(time.now());
      if (trouble && does === 'refuse') {
        // What a change has left is read again: a single refusal of it decides nothing.
        const isReadBack = server.changes.some((one) => one.client === client && target.endsWith(`/${one.code}/`));
        if (!isReadBack || method !== 'GET')
          server.refusals.push({ client, app: trouble.app, at: time.now(), later: [] });
        reply({ kind: 'answer', answer: json(401, { detail: 'Invalid token.' }, { 'www-authenticate': 'Token' }) });
        return;
      }
      const nth = (counts.get(method) ?? 0) + 1;
      counts.set(method, nth);
      const mishap = left.find((one) => one.method === method && one.nth === nth);
      const name = mishap?.reply ?? 'made';
      if (name === 'refused') {
        reply({ kind: 'refused' });
        return;
      }
      const change = changeOf(request, client);
      if (queue) {
        // Sent, whether the server keeps it or not: of what a gateway replied to nobody knows that it was answered.
        const post: Writable<SentPost> = { user: userIn(request), reply: 'dropped', client, at: time.now() };
        if (method === 'POST') server.posts.push(post);
        const carryOut = (): Reply => {
          const answered = change.carryOut(() => answer(request));
          store.keep();
          post.done = time.now();
          post.code = createdCode(answered);
          world.tell('server', () => `carried out: ${method} ${request.target} ${post.user}`);
          return { kind: 'answer', answer: answered };
        };
        queue.take(method, carryOut, (made) => {
          if ('answer' in made && made.answer.status === 201) post.reply = 'made';
          post.replied = time.now();
          reply(made);
        });
        return;
      }
      const made = change.carryOut(() => answer(request));
      const commit = mishap ? mishap.commit : 0;
      const sent = { user: userIn(request), reply: name, client, at: time.now(), code: createdCode(made) };
      if (method === 'POST' && made.status === 201) server.posts.push({ ...sent, done: time.now() + (commit ?? 0) });
      const changes = store.changes();
      if (commit !== 0) {
        store.undo();
        change.undo();
        // A number that was given out is not given out again.
        store.replay([changes.filter(({ table }) => table === 'counters')]);
      }
      const kept = changes.filter(({ table }) => table !== 'counters');
      store.keep();
      const isLate = commit !== undefined && commit > 0;
      if (isLate && kept.length > 0)
        time.after(commit, () => {
          change.carryOut(() => store.replay([kept]));
          world.tell('server', () => `carried out: ${method} ${request.target}`);
        });
      const { after = 0, reply: kind } = replies[name];
      const other = store.state.licenses.rows().find(({ remote_user }) => !made.body.includes(`"${remote_user}"`));
      time.after(does === 'delay' ? after + 6000 : after, () => reply(kind(made, other && { ...other })));
    },
  };
  return server;
}

function userIn({ method, body }: SandboxRequest): string {
  if (method !== 'POST') return '';
  const { remote_user = '', app_code } = JSON.parse(body.toString()) as { remote_user?: string; app_code?: number };
  return ownerOf(remote_user, app_code);
}

function codeIn({ path }: SandboxRequest): string {
  return decodeURIComponent(/\/license\/([^/]+)\/$/.exec(path)?.[1] ?? '');
}

function createdCode({ status, body }: SandboxAnswer): string | undefined {
  return status === 201 ? (JSON.parse(body) as { license_code?: string }).license_code : undefined;
}

function fieldsIn({ method, body }: SandboxRequest): Partial<ServedFields> {
  return /^(PATCH|PUT)$/.test(method) ? (JSON.parse(body.toString()) as Partial<ServedFields>) : {};
}

/** The services wait for nothing. */
export const unusedClock = {
  elapsed: () => 0,
  random: () => 0,
  sleep: () => Promise.reject(new Error('the service waits for nothing')),
};
