import { describe, expect, test } from 'vitest';
import { Failure, type FailureKind, failures, ifAnswered, labelled, usage } from '../../src/core/failure.ts';

const http = { method: 'GET', url: 'https://chat.example/api/v1/messages', status: 400 };

test('a failure under another kind and message keeps its details, except those that are given', () => {
  const first = new Failure('unavailable', 'no answer', { http, hint: 'Run it again.', retryable: true });
  const next = first.as('unknown', 'no answer; it may have happened', { retryable: false });
  expect({ kind: next.kind, message: next.message, ...next.details }).toEqual({
    kind: 'unknown',
    message: 'no answer; it may have happened',
    http,
    hint: 'Run it again.',
    retryable: false,
    cause: first,
  });
  expect(next.cause).toBe(first);
  expect(first.details.retryable).toBe(true);
});

test('three kinds are an interruption by the user', () => {
  const kinds = (Object.keys(failures) as FailureKind[]).filter((kind) => new Failure(kind, '').isInterruption);
  expect(kinds).toEqual(['hangup', 'cancelled', 'terminated']);
});

describe('labelled', () => {
  const fail = (): never => {
    throw usage('not a time', 'Write it as 2026-01-31.');
  };

  test('puts what was read before the text, and keeps kind and hint', () => {
    expect(() => labelled('--since', fail)).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message: '--since: not a time',
        details: { hint: 'Write it as 2026-01-31.', cause: usage('not a time', 'Write it as 2026-01-31.') },
      }),
    );
  });

  test('takes another kind where the place of the text decides it', () => {
    expect(() => labelled('config.json', fail, 'config')).toThrow(expect.objectContaining({ kind: 'config', exit: 3 }));
  });

  test('returns what was read, and lets a bug pass as it is', () => {
    const bug = new TypeError('x is undefined');
    expect(labelled('--since', () => 7)).toBe(7);
    expect(() =>
      labelled('--since', () => {
        throw bug;
      }),
    ).toThrow(bug);
  });
});

describe('an optional look', () => {
  test('is undefined where it fails', async () => {
    expect(await ifAnswered(Promise.reject<number>(new Failure('unavailable', 'no answer')))).toBeUndefined();
    expect(await ifAnswered(Promise.resolve(7))).toBe(7);
  });

  test.each([
    new Failure('cancelled', 'interrupted'),
    new Failure('terminated', 'SIGTERM'),
    new Failure('hangup', 'SIGHUP'),
    new TypeError('a bug'),
  ])('hides no interruption and no bug: %s', async (cause) => {
    await expect(ifAnswered(Promise.reject(cause))).rejects.toBe(cause);
  });
});
