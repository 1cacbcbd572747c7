import { expect, test } from 'vitest';
import { originOf, readBaseUrl, readSite, refuseExposed } from '../../src/schema/url.ts';
import { failureOf } from '../store/place.ts';

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://A.Example:443/', 'https://a.example'],
  ['https://a.example/api//', 'https://a.example/api'],
  ['https://a.example/licensing/v1/', 'https://a.example/licensing'],
  ['https://a.example/v1', 'https://a.example'],
  ['https://a.example/sub/v1/license/', 'https://a.example/sub'],
  ['https://a.example/v1/license/4F1C9-2FCA2/', 'https://a.example'],
  ['https://a.example/v1/first-activation', 'https://a.example'],
  ['https://a.example/license/', 'https://a.example/license'],
  ['http://localhost:8000', 'http://localhost:8000'],
  ['http://127.1.2.3:8000/x', 'http://127.1.2.3:8000/x'],
  ['http://[::1]:1/', 'http://[::1]:1'],
])('the base URL %s is %s', (text, url) => {
  expect(readBaseUrl(text)).toBe(url);
});

test.each([
  ['https://chat.example/', 'https://chat.example'],
  ['https://chat.example/api', 'https://chat.example'],
  ['https://chat.example/sub/api/v1/', 'https://chat.example/sub'],
  ['chat.example', 'https://chat.example'],
  ['chat.example:9991/x', 'https://chat.example:9991/x'],
  ['localhost:9991', 'http://localhost:9991'],
  ['localhost', 'http://localhost'],
])('the site %s is %s', (text, url) => {
  expect(readSite(text)).toBe(url);
});

test.each([
  ['a.example', "the base URL 'a.example' is not a URL"],
  ['https:a.example', "the base URL 'https:a.example' is not a URL"],
  ['https:///a', "the base URL 'https:///a' is not a URL"],
  ['https://a.ex\nample', 'the base URL is not a URL'],
  ['https://a example', "the base URL 'https://a example' is not a URL"],
  ['https://a.example\\@b.example', 'the base URL is not a URL'],
  ['ftp://a.example', "the base URL 'ftp://a.example' is neither https nor http"],
  ['https://user:canary@a.example', 'the base URL holds a user name or password'],
  ['https://user@a.example', 'the base URL holds a user name or password'],
  ['https://:canary@a.example', 'the base URL holds a user name or password'],
  ['https://"a.example"', 'the base URL is in quotes'],
  ['https://a.example/?x=1', 'the base URL holds a query or fragment'],
  ['https://a.example/#', 'the base URL holds a query or fragment'],
  ['', "the base URL '' is not a URL"],
])('the base URL %j is refused', async (text, message) => {
  expect(await failureOf(() => readBaseUrl(text))).toMatchObject({ kind: 'usage', message });
});

test('of a host without a scheme the hint is the URL, and of no other text', async () => {
  const hintOf = async (text: string) => (await failureOf(() => readBaseUrl(text))).hint;
  expect(await hintOf('licenses.example.com:8443/x')).toBe('Write https://licenses.example.com:8443/x.');
  expect(await hintOf('a.example/x@y')).toBe('Write it as in https://example.com.');
});

const exposed = [
  'http://a.example',
  'http://128.0.0.1',
  'http://localhost.example',
  'http://[::2]',
  'http://127.0.0.1.example',
];

test.each(exposed)('%s is not encrypted', async (text) => {
  const host = text.slice(7);
  expect(await failureOf(() => refuseExposed(text, {}, {}))).toEqual({
    kind: 'config',
    message: `'${text}' is not encrypted: a key is sent over http only to this computer`,
    hint: `Write https://${host}; or, in a network that you trust, sign in with --allow-http, or set CHATELAINE_ALLOW_HTTP=${host}.`,
  });
});

test.each([
  ['http://licenses:8080', { allow_http: true }, undefined],
  ['http://licenses:8080', {}, 'licenses:8080'],
  ['http://licenses:8080', {}, 'LICENSES'],
  ['http://licenses', {}, 'licenses'],
  ['http://licenses', {}, 'licenses:80'],
  ['http://127.0.0.2:1', {}, undefined],
  ['https://licenses', {}, undefined],
])('%s is allowed with %j and CHATELAINE_ALLOW_HTTP=%s', (url, profile, consent) => {
  expect(() => refuseExposed(url, profile, { CHATELAINE_ALLOW_HTTP: consent })).not.toThrow();
});

const otherHosts = [
  'other',
  'licenses:80',
  'licenses:8081',
  'icenses:8080',
  'licenses.example',
  '*',
  'true',
  'http://licenses:8080',
  '',
];

test.each(otherHosts)('CHATELAINE_ALLOW_HTTP=%s names another host than licenses:8080', (consent) => {
  expect(() => refuseExposed('http://licenses:8080', {}, { CHATELAINE_ALLOW_HTTP: consent })).toThrow('not encrypted');
});

test('an origin is scheme, host and port', () => {
  expect(originOf('https://a.example/licensing')).toBe('https://a.example');
  expect(originOf('http://localhost:8000/x')).toBe('http://localhost:8000');
});
