import { describe, expect, test } from 'vitest';
import {
  connectError,
  endingOf,
  isBug,
  sentError,
  TransportError,
  type AttemptEnding,
} from '../../../src/api/http/transport-error.ts';

const coded = (code: string, extra: object = {}): Error => Object.assign(new Error(`fake ${code}`), { code, ...extra });
const connecting = (code: string, extra: object = {}): TransportError => connectError(coded(code, extra));
const http = { method: 'GET', url: 'https://licenses.test:8443/v1/license/' };

const unprocessed: AttemptEnding = { request: 'unprocessed', again: 'after a backoff' };
const prevented: AttemptEnding = { request: 'unprocessed', again: 'never' };
const unconfirmed: AttemptEnding = { request: 'unknown', again: 'after a backoff' };
const unusable: AttemptEnding = { request: 'unknown', again: 'never' };

describe('what a status proves', () => {
  test.each<[number, AttemptEnding]>([
    ...[200, 204, 301, 400, 401, 403, 404].map((status): [number, AttemptEnding] => [
      status,
      { request: 'answered', again: 'never' },
    ]),
    [429, { request: 'unprocessed', again: 'after the wait asked for' }],
    ...[408, 502, 503, 504].map((status): [number, AttemptEnding] => [status, unconfirmed]),
    ...[500, 501, 520].map((status): [number, AttemptEnding] => [status, unusable]),
  ])('%d', (status, ending) => expect(endingOf(status)).toEqual(ending));
});

describe('what an error proves', () => {
  test.each<[string, TransportError, AttemptEnding]>([
    ['refused', connecting('ECONNREFUSED'), unprocessed],
    ['no route', connecting('EHOSTUNREACH'), unprocessed],
    ['no network', connecting('ENETUNREACH'), unprocessed],
    ['late connection', connectError(new TransportError('timeout')), unprocessed],
    [
      'several addresses, each refused',
      connectError(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])),
      unprocessed,
    ],
    ['a cause that was refused', connectError(new Error('x', { cause: coded('ECONNREFUSED') })), unprocessed],
    ['no such name', connecting('ENOTFOUND'), prevented],
    ['no answer of the name service', connecting('EAI_AGAIN'), unprocessed],
    ['certificate', connecting('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), prevented],
    ['expired certificate', connecting('CERT_HAS_EXPIRED'), prevented],
    ['another name in the certificate', connecting('ERR_TLS_CERT_ALTNAME_INVALID'), prevented],
    ['no TLS at the other end', connecting('ERR_SSL_WRONG_VERSION_NUMBER'), prevented],
    ['proxy without a password', new TransportError('proxy asks for a password'), prevented],
    ['proxy that refuses', new TransportError('proxy refuses'), prevented],
    ['proxy that cannot connect', new TransportError('proxy does not reach the server'), unprocessed],
    ['proxy that closes', new TransportError('proxy hangs up'), unprocessed],
    ['reset while connecting', connecting('ECONNRESET'), unprocessed],
    ['refused after connecting', sentError(coded('ECONNREFUSED')), unconfirmed],
    ['no route after connecting', sentError(coded('EHOSTUNREACH')), unconfirmed],
    ['no network after connecting', sentError(coded('ENETUNREACH')), unconfirmed],
    ['TLS error after connecting', sentError(coded('EPROTO')), unconfirmed],
    ['reset', sentError(coded('ECONNRESET')), unconfirmed],
    ['closed', sentError(coded('UND_ERR_SOCKET')), unconfirmed],
    ['pipe', sentError(coded('EPIPE')), unconfirmed],
    ['network time-out after connecting', sentError(coded('ETIMEDOUT')), unconfirmed],
    ['no whole answer in time', new TransportError('timeout'), unconfirmed],
    ['headers that Node does not take', sentError(coded('UND_ERR_HEADERS_OVERFLOW')), unusable],
    ['too large', new TransportError('body too large'), unusable],
    ['closed by undici', sentError(coded('UND_ERR_ABORTED')), unconfirmed],
    ['what the HTTP parser does not take', sentError(coded('HPE_INVALID_CONSTANT')), unconfirmed],
    [
      'what undici reads as no HTTP',
      sentError(Object.assign(new Error('?'), { name: 'HTTPParserError' })),
      unconfirmed,
    ],
    ['gzip that is cut', sentError(coded('Z_BUF_ERROR')), unconfirmed],
    ['brotli that is none', sentError(coded('ERR__ERROR_FORMAT_CL_SPACE')), unconfirmed],
    ['what is no error', sentError('text'), unconfirmed],
  ])('%s', (_what, error, ending) => {
    expect(error.ending).toMatchObject(ending);
    expect(error.failure(http, 30_000).retryable).toBe(ending.again !== 'never');
  });
});

test.each([
  new Error('?'),
  new TypeError('x is not a function'),
  ...['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_DESTROYED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'].map(
    (code) => coded(code),
  ),
  coded('ERR_INVALID_ARG_TYPE'),
])('%s is a bug, and no connection that broke', (bug) => {
  expect(() => sentError(bug)).toThrow(bug);
  expect(isBug(bug)).toBe(true);
});

test('an error of Windows without a name of POSIX is no bug', () => {
  expect(isBug(coded('UNKNOWN'))).toBe(false);
});

test('codes of the HTTP library are not repeated: they are no words for a reader', () => {
  const { message } = sentError(coded('UND_ERR_SOCKET')).failure(http, 1000);

  expect(message).toBe('the connection to licenses.test:8443 broke before the response was complete');
  expect(sentError(coded('ECONNRESET')).failure(http, 1000).message).toBe(`${message} (ECONNRESET)`);
  const several = connectError(new AggregateError([coded('ECONNREFUSED'), coded('ETIMEDOUT')]));
  expect(several.failure(http, 1000).message).toBe('no connection to licenses.test:8443 (ECONNREFUSED)');
});
