/** What an argument after `@` means, and its default. */
interface FaultRow {
  readonly means: string;
  readonly argument?: { readonly kind: 'duration' | 'text' | 'messages'; readonly default: string };
}

/** Every fault that can be asked for; `sandbox serve --help` and the manual show them. */
export const faultKinds = {
  'drop-before': { means: 'the connection ends, nothing was done' },
  'drop-after': { means: 'the request is carried out, then the connection ends without an answer' },
  reset: { means: 'the connection is reset (RST), nothing was done' },
  'reset-after': { means: 'the request is carried out, then the connection is reset' },
  'delay-commit': {
    means: 'the connection ends, and the request is carried out that much later',
    argument: { kind: 'duration', default: '2s' },
  },
  'delay-commit-504': {
    means: 'a 504 page at once, and the request is carried out that much later',
    argument: { kind: 'duration', default: '2s' },
  },
  hang: { means: 'no answer ever, nothing was done' },
  'hang-after': { means: 'the request is carried out, and no answer ever comes' },
  '500': { means: "the service's own 500, nothing was done" },
  '502': { means: "the proxy's 502 page, nothing was done" },
  '503': { means: "the proxy's 503 page, nothing was done" },
  '504': { means: "the proxy's 504 page, nothing was done" },
  '500-after': { means: 'the request is carried out, the answer is a 500' },
  '502-after': { means: 'the request is carried out, the answer is a 502 page' },
  '503-after': { means: 'the request is carried out, the answer is a 503 page' },
  '504-after': { means: 'the request is carried out, the answer is a 504 page' },
  '429': {
    means: '429 with retry-after as a float in header and body',
    argument: { kind: 'duration', default: '1500ms' },
  },
  '429-float': { means: 'the same as 429', argument: { kind: 'duration', default: '1500ms' } },
  '429-int': { means: '429 with whole seconds', argument: { kind: 'duration', default: '2s' } },
  '429-date': {
    means: '429 with a date in the header, no field in the body',
    argument: { kind: 'duration', default: '2s' },
  },
  '429-null': { means: '429 with null in the body and no header' },
  '429-tiny': { means: '429 with 0.008 seconds' },
  '429-long': { means: '429 with a day', argument: { kind: 'duration', default: '1d' } },
  '429-html': { means: "the proxy's 429 page, without a field" },
  cut: { means: 'the request is carried out; the answer breaks off in the middle' },
  slow: { means: 'the answer trickles, over that long', argument: { kind: 'duration', default: '2s' } },
  'content-type': { means: 'the answer is labelled text/html' },
  html: { means: 'a login page with status 200, nothing was done' },
  huge: { means: 'an answer with status 200 that does not end (256 MiB at most), nothing was done' },
  redirect: {
    means: '302 to that URL, nothing was done',
    argument: { kind: 'text', default: 'https://elsewhere.example/' },
  },
  'redirect-307': {
    means: '307 to that URL, nothing was done',
    argument: { kind: 'text', default: 'https://elsewhere.example/' },
  },
  'error-in-200': {
    means: 'an error of the service under status 200, of licensing in the form of --error-shape; nothing was done',
  },
  empty: { means: 'the request is carried out; its status comes without a body' },
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
  'json-garbage': { means: 'the request is carried out; the answer is no valid JSON' },
} as const satisfies Readonly<Record<string, FaultRow>>;

export type FaultKind = keyof typeof faultKinds;

export function isFaultKind(name: string): name is FaultKind {
  return Object.hasOwn(faultKinds, name);
}

export function kindOf(name: FaultKind): FaultRow {
  return faultKinds[name];
}
