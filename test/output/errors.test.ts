import { describe, expect, test } from 'vitest';
import { Failure, usage } from '../../src/core/failure.ts';
import { failureJson, failureText } from '../../src/output/errors.ts';

const look = { terminal: true, columns: 0, color: false };

const missing = new Failure('not_found', 'There is no license k\x1b1.', {
  hint: 'List the licenses: chatelaine license list',
  http: { method: 'GET', url: 'https://api.example.org/v1/license/[license_code]/', status: 404 },
  server: { code: 'NOT_FOUND', msg: 'Not\u202e found.\nReally.' },
});

describe('text', () => {
  test('says what happened, why, and what to do', () => {
    expect(failureText(missing, look)).toBe(
      'chatelaine: There is no license k\\x1b1.\n' +
        '  The server says: Not\\u202e found.\n' +
        '  Really. (NOT_FOUND)\n' +
        'hint: List the licenses:\n  chatelaine license list',
    );
  });

  test('does not repeat what the message says', () => {
    const failure = new Failure('rejected', 'The server refused: Invalid name (BAD_REQUEST)', {
      server: { code: 'BAD_REQUEST', msg: 'Invalid name' },
    });
    expect(failureText(failure, look)).toBe('chatelaine: The server refused: Invalid name (BAD_REQUEST)');
  });

  test('keeps all problems of one input', () => {
    expect(failureText(usage(['line 2: a\nb']), look)).toBe('chatelaine: line 2: a\n  b');
    expect(failureText(new Failure('rejected', 'no', { server: { msg: 'x' } }), look)).toBe(
      'chatelaine: no\n  The server says: x',
    );
    expect(failureText(usage(['line 2: a', 'line 9: b']), look)).toBe('chatelaine: line 2: a\n            line 9: b');
  });

  test('a hint may begin with a command, and a command has a line of its own', () => {
    const failure = usage(
      'no snippet 7',
      'chatelaine snippet list shows the ids.\nTo delete one: chatelaine snippet rm 2',
    );
    expect(failureText(failure, look)).toBe(
      'chatelaine: no snippet 7\nhint: chatelaine snippet list shows the ids.\nhint: To delete one:\n  chatelaine snippet rm 2',
    );
  });

  test('colours its name only', () => {
    expect(failureText(usage('no'), { ...look, color: true })).toBe('\x1b[31mchatelaine:\x1b[39m no');
  });

  test('is unchanged in a pipe', () => {
    expect(failureText(usage('no\x1b'), { ...look, terminal: false })).toBe('chatelaine: no\x1b');
  });
});

describe('JSON', () => {
  test('is the shape of the contract on one harmless line', () => {
    expect(failureJson(missing)).toBe(
      '{"error":{"code":"not_found","exit":5,"message":"There is no license k\\u001b1.",' +
        '"hint":"List the licenses: chatelaine license list",' +
        '"http":{"method":"GET","url":"https://api.example.org/v1/license/[license_code]/","status":404},' +
        '"server":{"code":"NOT_FOUND","msg":"Not\\u202e found.\\nReally."},"retryable":false}}',
    );
  });

  test.each([
    [usage('bad'), '{"error":{"code":"usage","exit":2,"message":"bad","retryable":false}}'],
    [new Failure('unavailable', 'down'), '{"error":{"code":"unavailable","exit":7,"message":"down","retryable":true}}'],
    [new Failure('cancelled', 'stop'), '{"error":{"code":"cancelled","exit":130,"message":"stop","retryable":false}}'],
    [new Failure('terminated', 'stop'), '{"error":{"code":"cancelled","exit":143,"message":"stop","retryable":false}}'],
  ])('leaves out what is not known', (failure, line) => {
    expect(failureJson(failure)).toBe(line);
  });
});
