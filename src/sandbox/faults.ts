import { parseDuration } from '../core/duration.ts';
import { labelled, usage } from '../core/failure.ts';
import { collect } from '../schema/field.ts';
import { suggestion } from '../schema/nearest.ts';

/** One fault that is about to happen. */
export interface SandboxFault {
  readonly kind: FaultKind;
  /** Milliseconds, or the text of the argument; undefined where the kind has none. */
  readonly argument: number | string | undefined;
}

/** Decides for each request, in the order of their arrival, what goes wrong. */
export interface Faults {
  /** `path` without the query. */
  draw(method: string, path: string): SandboxFault | undefined;
}

interface Item {
  readonly fault: SandboxFault;
  readonly probability: number;
  /** How many matching requests get the fault: after the first `skip` of them, each `every`th, `times` in all. */
  readonly count?: { readonly skip: number; readonly times: number; readonly every: number };
}

interface FaultRule {
  readonly method: string;
  readonly path: RegExp;
  readonly items: readonly Item[];
}

/**
 * Reads `--fault SPEC`: rules separated by `;`, each `[METHOD ]PATH=FAULT,FAULT…` or `*=…`. In a path `*` matches any
 * characters. A FAULT is `KIND:PROBABILITY`, `KIND#N` (the next N matching requests), `KIND#N+S` (the same after S have
 * passed), `KIND/N` (each Nth matching request) or `KIND` (always), each with `@ARGUMENT` at its end where the kind
 * takes one: `delay-commit:0.02@3s`. The first rule that matches and draws a fault decides. Chance comes from the seed
 * and the order of requests alone, never from what they contain.
 * @throws Failure usage naming every bad part
 */
export function readFaults(spec: string, seed: number): Faults {
  const parts = spec
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw usage('--fault: no fault is given', 'Write for example "*=502:0.05".');
  const rules = collect(parts, readRule).map((rule) => ({ rule, passed: rule.items.map(() => 0) }));
  const random = mulberry32(seed);
  return {
    draw(method, path) {
      for (const { rule, passed } of rules) {
        const isMeant = (rule.method === '*' || rule.method === method) && rule.path.test(path);
        const fault = isMeant ? drawFrom(rule, passed, random) : undefined;
        if (fault) return fault;
      }
      return undefined;
    },
  };
}

function readRule(text: string): FaultRule {
  const at = text.indexOf('=');
  const target = /^(?:(\*|[A-Z]+)\s+)?([*/]\S*)$/.exec(text.slice(0, at).trim());
  if (at < 1 || !target)
    throw usage(
      `--fault '${text}': expected [METHOD ]PATH=FAULT,… or *=FAULT,…`,
      'As in "POST /v1/license/=drop-after:0.05" or "*=503#3"; the manual of sandbox serve lists the faults.',
    );
  const items = collect(text.slice(at + 1).split(','), (item) => readItem(item.trim()));
  const total = items.reduce((sum, { probability }) => sum + probability, 0);
  if (total > 1 + 1e-9) throw usage(`--fault '${text}': the probabilities add up to more than 1`);
  const pieces = (target[2] ?? '*').split('*').map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return { method: target[1] ?? '*', path: new RegExp(`^${pieces.join('.*')}$`, 's'), items };
}

function readItem(text: string): Item {
  const match = /^([\w-]+)(?::([^@#:]*)|#(\d{1,6})(?:\+(\d{1,6}))?|\/([1-9]\d{0,5}))?(?:@(.+))?$/.exec(text);
  const [, kind = '', share, times, skip, every, argument] = match ?? [];
  if (!match)
    throw usage(
      `--fault '${text}': expected KIND:PROBABILITY, KIND#COUNT or KIND/EVERY, with @ARGUMENT at the end if any`,
    );
  const known = Object.keys(faultKinds);
  if (!isFaultKind(kind))
    throw usage(
      `--fault '${text}': no fault is named '${kind}'`,
      suggestion(kind, known) ?? `Known: ${known.join(', ')}.`,
    );
  const fault = { kind, argument: readArgument(text, kind, argument) };
  if (every !== undefined || times !== undefined) {
    const count = { times: Number(times ?? Infinity), skip: Number(skip ?? 0), every: Number(every ?? 1) };
    return { fault, probability: 0, count };
  }
  const probability = Number(share ?? 1);
  if (!/^(\d+(\.\d+)?|\.\d+)$/.test(share ?? '1') || probability > 1)
    throw usage(`--fault '${text}': a probability is a number from 0 to 1`);
  return { fault, probability };
}

function readArgument(text: string, kind: FaultKind, given: string | undefined): SandboxFault['argument'] {
  const { argument } = kindOf(kind);
  if (!argument) {
    if (given !== undefined) throw usage(`--fault '${text}': ${kind} accepts no argument`);
    return undefined;
  }
  const value = given ?? argument.default;
  if (argument.kind === 'text') return value;
  if (argument.kind === 'duration') return labelled(`--fault '${text}'`, () => parseDuration(value));
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw usage(`--fault '${text}': '${value}' is not a number of messages above 0`);
}

/** Counted faults come first; one number is drawn for all the others of a rule. */
function drawFrom({ items }: FaultRule, passed: number[], random: () => number): SandboxFault | undefined {
  let hit: SandboxFault | undefined;
  items.forEach(({ fault, count }, index) => {
    if (!count || (hit && (passed[index] ?? 0) >= count.skip)) return;
    const number = (passed[index] = (passed[index] ?? 0) + 1) - count.skip;
    if (number > 0 && number <= count.times && number % count.every === 0) hit = fault;
  });
  if (hit || items.every(({ count }) => count)) return hit;
  let rest = random();
  return items.find(({ probability }) => (rest -= probability) < 0)?.fault;
}

/** A small generator of numbers in [0, 1) that every platform repeats alike. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The meaning of a fault, and the kind and default of its argument after `@`. */
interface FaultRow {
  readonly means: string;
  readonly argument?: { readonly kind: 'duration' | 'text' | 'messages'; readonly default: string };
}

/** Every fault that can be requested; `sandbox serve --help` and the manual show them. */
export const faultKinds = {
  'drop-before': { means: 'the connection closes, nothing was done' },
  'drop-after': { means: 'the request is processed, then the connection closes without a response' },
  reset: { means: 'the connection is reset (RST), nothing was done' },
  'reset-after': { means: 'the request is processed, then the connection is reset' },
  'delay-commit': {
    means: 'the connection closes, and the request is processed that much later',
    argument: { kind: 'duration', default: '2s' },
  },
  'delay-commit-504': {
    means: 'a 504 page at once, and the request is processed that much later',
    argument: { kind: 'duration', default: '2s' },
  },
  hang: { means: 'no response at all, nothing was done' },
  'hang-after': { means: 'the request is processed, but there is no response' },
  '500': { means: "the service's own 500, nothing was done" },
  '502': { means: "the proxy's 502 page, nothing was done" },
  '503': { means: "the proxy's 503 page, nothing was done" },
  '504': { means: "the proxy's 504 page, nothing was done" },
  '500-after': { means: 'the request is processed, the response is a 500' },
  '502-after': { means: 'the request is processed, the response is a 502 page' },
  '502-stray': {
    means:
      'the request is processed, the response is a 502 page; during the next request of the same connection, a stray ' +
      '200 with the body [] comes before its response',
  },
  '503-after': { means: 'the request is processed, the response is a 503 page' },
  '504-after': { means: 'the request is processed, the response is a 504 page' },
  '429': {
    means: '429 with retry-after as a float in header and body',
    argument: { kind: 'duration', default: '1500ms' },
  },
  '429-float': { means: 'the same as 429', argument: { kind: 'duration', default: '1500ms' } },
  '429-int': { means: '429 with whole seconds', argument: { kind: 'duration', default: '2s' } },
  '429-date': {
    means: '429 with a date in the header and no field in the body',
    argument: { kind: 'duration', default: '2s' },
  },
  '429-null': { means: '429 with null in the body and no header' },
  '429-tiny': { means: '429 with 0.008 seconds' },
  '429-long': { means: '429 with a day', argument: { kind: 'duration', default: '1d' } },
  '429-html': { means: "the proxy's 429 page, without a field" },
  cut: { means: 'the request is processed; the response breaks off in the middle' },
  slow: { means: 'the response trickles in, over that time', argument: { kind: 'duration', default: '2s' } },
  'content-type': { means: 'the response has the type text/html' },
  html: { means: 'a login page with status 200, nothing was done' },
  huge: { means: 'a response with status 200 that does not end (256 MiB at most), nothing was done' },
  redirect: {
    means: '302 to that URL, nothing was done',
    argument: { kind: 'text', default: 'https://elsewhere.example/' },
  },
  'redirect-307': {
    means: '307 to that URL, nothing was done',
    argument: { kind: 'text', default: 'https://elsewhere.example/' },
  },
  'error-in-200': {
    means: 'an error of the service with status 200; nothing was done',
  },
  empty: { means: 'the request is processed; the response has a status but no body' },
  early: {
    means:
      'a delete_topic call runs out of time after that many messages, and its feature level says how: complete is false from 211 ' +
      'on, partially_completed from 154, an error with the code REQUEST_TIMEOUT from 147, a 502 page with nothing done below',
    argument: { kind: 'messages', default: '100' },
  },
  'early-502': {
    means: "a delete_topic call ends after that many messages with the proxy's 502 page",
    argument: { kind: 'messages', default: '100' },
  },
  'early-500': {
    means:
      "a delete_topic call ends after that many messages with the service's own 500, as if somebody else moved the rest at that moment",
    argument: { kind: 'messages', default: '100' },
  },
  'goes-on': {
    means:
      'the connection closes, and the request is processed that much later; a delete_topic call deletes everything',
    argument: { kind: 'duration', default: '2s' },
  },
  'complete-nothing': {
    means: 'success with complete true, as from a delete_topic call that waited for a move; nothing was done',
  },
  'json-garbage': { means: 'the request is processed; the response is not valid JSON' },
} as const satisfies Readonly<Record<string, FaultRow>>;

export type FaultKind = keyof typeof faultKinds;

function isFaultKind(name: string): name is FaultKind {
  return Object.hasOwn(faultKinds, name);
}

export function kindOf(name: FaultKind): FaultRow {
  return faultKinds[name];
}
