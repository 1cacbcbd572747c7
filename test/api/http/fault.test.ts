import { describe, expect, test } from 'vitest';
import { barrier, endingOfError, ProxyRefusal, TimedOut, TooLarge, Unconnected } from '../../../src/api/http/fault.ts';
import type { AttemptEnding } from '../../../src/api/http/retry.ts';
import { Failure } from '../../../src/core/failure.ts';

const coded = (code: string, extra: object = {}): Error =>
  Object.assign(new Error(`trouble ${code}`), { code, ...extra });
const connecting = (code: string, extra: object = {}): Error => new Unconnected(coded(code, extra));
const http = { method: 'GET', url: 'https://licenses.test:8443/v1/license/' };

describe('what an error of the transport means for repeating', () => {
  test.each<[string, unknown, AttemptEnding]>([
    ['refused', connecting('ECONNREFUSED'), 'unsent'],
    ['no route', connecting('EHOSTUNREACH'), 'unsent'],
    ['no network', connecting('ENETUNREACH'), 'unsent'],
    ['late connection', new Unconnected(new TimedOut()), 'unsent'],
    [
      'several addresses, each refused',
      new Unconnected(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])),
      'unsent',
    ],
    ['a cause that was refused', new Unconnected(new Error('x', { cause: coded('ECONNREFUSED') })), 'unsent'],
    ['no such name', connecting('ENOTFOUND'), 'barred'],
    ['no answer of the name service', connecting('EAI_AGAIN'), 'unsent'],
    ['certificate', connecting('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'barred'],
    ['expired certificate', connecting('CERT_HAS_EXPIRED'), 'barred'],
    ['another name in the certificate', connecting('ERR_TLS_CERT_ALTNAME_INVALID'), 'barred'],
    ['no TLS at the other end', connecting('ERR_SSL_WRONG_VERSION_NUMBER'), 'barred'],
    ['a failure of ours', new Failure('config', 'no CA file'), 'barred'],
    ['proxy without a password', new Unconnected(new ProxyRefusal(407)), 'barred'],
    ['proxy that refuses', new Unconnected(new ProxyRefusal(403)), 'barred'],
    ['proxy that cannot connect', new Unconnected(new ProxyRefusal(502)), 'unsent'],
    ['reset while connecting', connecting('ECONNRESET'), 'unsent'],
    ['refused after connecting', coded('ECONNREFUSED'), 'unconfirmed'],
    ['no route after connecting', coded('EHOSTUNREACH'), 'unconfirmed'],
    ['no network after connecting', coded('ENETUNREACH'), 'unconfirmed'],
    ['TLS error after connecting', coded('EPROTO'), 'unconfirmed'],
    ['reset', coded('ECONNRESET'), 'unconfirmed'],
    ['closed', coded('UND_ERR_SOCKET'), 'unconfirmed'],
    ['pipe', coded('EPIPE'), 'unconfirmed'],
    ['network time-out after connecting', coded('ETIMEDOUT'), 'unconfirmed'],
    ['no whole answer in time', new TimedOut(), 'unconfirmed'],
    ['too large', new TooLarge(), 'unconfirmed'],
    ['anything else', new Error('?'), 'unconfirmed'],
    ['what is no error', 'text', 'unconfirmed'],
  ])('%s', (_what, error, ending) => expect(endingOfError(error)).toBe(ending));
});

test('codes of the HTTP library are not repeated: they are no words for a reader', () => {
  const { message } = barrier(coded('UND_ERR_SOCKET'), http, {}, 1000);

  expect(message).toBe('the connection to licenses.test:8443 broke before a whole answer came');
  expect(barrier(coded('ECONNRESET'), http, {}, 1000).message).toBe(`${message} (ECONNRESET)`);
});

describe('the failure names what prevented the request', () => {
  test.each<[string, unknown, RegExp, RegExp]>([
    [
      'DNS',
      connecting('ENOTFOUND', { hostname: 'licenses.test' }),
      /^DNS: no address for licenses\.test/,
      /URL of the profile/,
    ],
    ['DNS of the proxy', connecting('ENOTFOUND', { hostname: 'proxy.test' }), /no address for proxy\.test/, /proxy/],
    [
      'TLS',
      connecting('SELF_SIGNED_CERT_IN_CHAIN'),
      /^TLS: .*licenses\.test:8443/,
      /--ca-file FILE or NODE_EXTRA_CA_CERTS/,
    ],
    ['time-out', new TimedOut(), /^timeout: .*licenses\.test:8443 within 30s/, /--timeout/],
    ['refused', connecting('ECONNREFUSED'), /^no connection to licenses\.test:8443 \(ECONNREFUSED\)/, /service runs/],
    ['proxy', new Unconnected(new ProxyRefusal(407)), /proxy asks for a name and password/, /HTTPS_PROXY/],
    [
      'late connection',
      new Unconnected(new TimedOut()),
      /^timeout: no connection to licenses\.test:8443 within 30s$/,
      /service runs/,
    ],
    ['plain port', connecting('ERR_SSL_WRONG_VERSION_NUMBER'), /does not speak TLS on this port/, /port of the URL/],
    ['reset', coded('ECONNRESET'), /broke before a whole answer came \(ECONNRESET\)/, /again/],
    ['too large', new TooLarge(), /larger than any answer/, /URL of the profile/],
  ])('%s', (_what, error, message, hint) => {
    const failure = barrier(error, http, {}, 30_000);

    expect(failure.kind).toBe('unavailable');
    expect(failure.message).toMatch(message);
    expect(failure.details.hint).toMatch(hint);
    expect(failure.details.http).toEqual(http);
    expect(failure.cause).toBe(error);
  });

  test('the proxy without its password', () => {
    const env = { HTTPS_PROXY: 'http://me:hunter2@proxy.test:3128' };

    const { message } = barrier(connecting('ECONNREFUSED'), http, env, 30_000);

    expect(message).toBe('no connection to licenses.test:8443 through the proxy proxy.test:3128 (ECONNREFUSED)');
  });

  test.each([
    ['plain http goes past it', { ...http, url: 'http://127.0.0.1:80/v1/' }, {}],
    ['a host of NO_PROXY goes past it', http, { NO_PROXY: 'example.com,.test' }],
    ['every host', http, { NO_PROXY: '*' }],
    ['an empty variable is unset', http, { HTTPS_PROXY: '' }],
  ])('no proxy is named: %s', (_what, request, env) => {
    const { message } = barrier(
      connecting('ECONNREFUSED'),
      request,
      { HTTPS_PROXY: 'proxy.test:3128', ...env },
      30_000,
    );

    expect(message).not.toContain('proxy');
  });

  test('a failure of ours stays what it is', () => {
    const failure = new Failure('config', 'no CA file');

    expect(barrier(failure, http, {}, 1)).toBe(failure);
  });
});
