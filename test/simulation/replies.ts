import { html, json, proxyPage, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { Reply } from './network.ts';

interface ReplyKind {
  /** What the client knows then: it was carried out, it was not, or it may have been, which only a list decides. */
  readonly means: 'answered' | 'refused' | 'open';
  /** @param other the license of another user, if there is one */
  readonly reply: (answer: SandboxAnswer, other: Readonly<Record<string, unknown>> | undefined) => Reply;
  /** Comes so many milliseconds after the request was carried out. */
  readonly after?: number;
}

const table = {
  made: { means: 'answered', reply: (answer) => ({ kind: 'answer', answer }) },
  late: { means: 'answered', reply: (answer) => ({ kind: 'answer', answer }), after: 20_000 },
  empty: { means: 'answered', reply: (answer) => ({ kind: 'answer', answer: { ...answer, body: '' } }) },
  'other-user': {
    means: 'answered',
    reply: (answer, other = { license_code: 'KEY-OF-ZOE', remote_user: 'zoe' }) => changed(answer, other),
  },
  'other-key': {
    means: 'answered',
    reply: (answer, { license_code } = { license_code: 'KEY-OF-ZOE' }) => changed(answer, { license_code }),
  },
  dropped: { means: 'open', reply: () => ({ kind: 'dropped' }) },
  nothing: { means: 'open', reply: () => ({ kind: 'nothing' }) },
  cut: { means: 'open', reply: (answer) => ({ kind: 'cut', answer }) },
  '500': { means: 'open', reply: () => ({ kind: 'answer', answer: proxyPage(500) }) },
  '502': { means: 'open', reply: () => ({ kind: 'answer', answer: proxyPage(502) }) },
  '504': { means: 'open', reply: () => ({ kind: 'answer', answer: proxyPage(504) }) },
  page: {
    means: 'open',
    reply: () => ({ kind: 'answer', answer: html(200, '<!DOCTYPE html><html><body>Log in</body></html>') }),
  },
  error: { means: 'open', reply: () => ({ kind: 'answer', answer: json(200, { error: 'Something went wrong.' }) }) },
  '400': { means: 'refused', reply: () => ({ kind: 'answer', answer: json(400, { detail: 'Not now.' }) }) },
  '429': {
    means: 'refused',
    reply: () => ({ kind: 'answer', answer: json(429, { detail: 'Request was throttled.' }, { 'retry-after': '1' }) }),
  },
  refused: { means: 'refused', reply: () => ({ kind: 'refused' }) },
} as const satisfies Readonly<Record<string, ReplyKind>>;

export type ReplyName = keyof typeof table;

/** How the licensing server replies to one request: server, worlds and judges read this table. */
export const replies: Readonly<Record<ReplyName, ReplyKind>> = table;

export const replyNames = Object.keys(table) as ReplyName[];

/** The answer about one license, with these fields in place of its own; a list is as it was. */
function changed(answer: SandboxAnswer, fields: Readonly<Record<string, unknown>>): Reply {
  const body: unknown = answer.status < 300 ? JSON.parse(answer.body) : undefined;
  const isOne = typeof body === 'object' && body !== null && !Array.isArray(body);
  return { kind: 'answer', answer: isOne ? json(answer.status, { ...body, ...fields }) : answer };
}
