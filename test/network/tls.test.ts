import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { rootCertificates, type TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openAuthority, type Authority } from '../helpers/authority.ts';
import { alarmByHand } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';
import { emptyHome, runAlone, type Ran, type RunOptions } from '../helpers/run.ts';

const list = (base: string, more = '', options: RunOptions = {}): Promise<Ran> =>
  runAlone(`license list -o json ${more}`, {
    ...options,
    env: { CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7' },
  });

const trust = 'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS.';

describe('certificates', needs('openssl'), () => {
  let authority: Authority;
  let stranger: Authority;

  beforeAll(() => {
    authority = openAuthority();
    stranger = openAuthority();
  });
  afterAll(() => {
    authority.close();
    stranger.close();
  });

  test('--ca-file adds an authority', async () => {
    const { port, seen } = await openOrigin(() => ({}), authority.issue('DNS:localhost'));
    expect((await list(`https://localhost:${port}`, `--ca-file ${authority.file}`)).exitCode).toBe(0);
    expect(seen).toHaveLength(1);
  });

  test.each([
    [
      'of an unknown authority',
      ['DNS:localhost', undefined, ''],
      ...['is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', trust],
    ],
    [
      'of another authority',
      ['DNS:localhost', undefined, 'stranger'],
      ...['is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', trust],
    ],
    [
      'for another name',
      ['DNS:other.example', undefined, 'authority'],
      'is for another host (DNS:other.example)',
      'Check the host name in the URL; if it is right, the server needs a certificate for it.',
    ],
    [
      'that is too old',
      ['DNS:localhost', 'past', 'authority'],
      ', or of its authority, has expired or is not valid yet (CERT_HAS_EXPIRED)',
      'The server needs a new certificate, unless the clock of this computer is wrong.',
    ],
    [
      'of the future',
      ['DNS:localhost', 'future', 'authority'],
      ', or of its authority, has expired or is not valid yet (CERT_NOT_YET_VALID)',
      'The server needs a new certificate, unless the clock of this computer is wrong.',
    ],
  ] as const)(
    'a certificate %s is reported in its own words, once, and no key is sent',
    async (_what, [names, when, trusted], words, hint) => {
      const { port, seen, connections } = await openOrigin(() => ({}), authority.issue(names, when));
      const file = { '': undefined, stranger: stranger.file, authority: authority.file }[trusted];
      const ran = await list(`https://localhost:${port}`, file === undefined ? '' : `--ca-file ${file}`);
      const gap = words.startsWith(',') ? '' : ' ';
      const message = `TLS: the certificate of localhost:${port}${gap}${words}`;
      expect(ran.error).toMatchObject({ code: 'unavailable', exit: 7, message, hint });
      expect({ seen, connections: connections() }).toEqual({ seen: [], connections: 1 });
    },
  );

  const asking = { requestCert: true, rejectUnauthorized: true } as const;
  test.each<[string, TlsOptions, string]>([
    [
      'speaks an old TLS alone',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      'and this computer do not agree on a connection (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)',
    ],
    [
      'asks the client for a certificate in TLS 1.2',
      { ...asking, maxVersion: 'TLSv1.2' },
      'and this computer do not agree on a connection (ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE)',
    ],
    [
      'asks the client for a certificate in TLS 1.3',
      { ...asking, minVersion: 'TLSv1.3' },
      'and this computer do not agree on a connection (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)',
    ],
  ])('a server that %s is reported so, once: neither an authority nor a second run would help', async (...row) => {
    const [, options, words] = row;
    const certificate = { ...options, ca: readFileSync(authority.file), ...authority.issue('DNS:localhost') };
    const { port, seen, connections } = await openOrigin(() => ({}), certificate);
    const { error } = await list(`https://localhost:${port}`, `--ca-file ${authority.file}`);
    expect(error).toMatchObject({ exit: 7, retryable: false, message: `TLS: localhost:${port} ${words}` });
    expect(error?.hint).not.toMatch(/--ca-file|again/);
    expect({ seen, connections: connections() }).toEqual({ seen: [], connections: 1 });
  });

  test('a proxy whose certificate is wrong is named in the place of the server', async () => {
    const { port, seen } = await openOrigin(() => ({}), authority.issue('DNS:other.example'));
    const env = { CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7', NO_PROXY: '' };
    const there = { CHATELAINE_BASE_URL: 'https://licenses.test', HTTPS_PROXY: `https://localhost:${port}` };
    const words = [
      [`--ca-file ${authority.file}`, 'is for another host (DNS:other.example)'],
      ['', 'is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'],
    ] as const;
    for (const [more, said] of words) {
      const { error } = await runAlone(`license list -o json ${more}`, { env: { ...env, ...there } });
      expect(error?.message).toBe(`TLS: the certificate of the proxy localhost:${port} ${said}`);
    }
    expect(seen).toEqual([]);
  });

  test('a proxy that speaks no TLS is named too', async () => {
    const { port } = await openOrigin();
    const env = { CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7' };
    const there = { CHATELAINE_BASE_URL: 'https://licenses.test', HTTPS_PROXY: `https://localhost:${port}` };
    const { error } = await runAlone('license list -o json', { env: { ...env, ...there } });
    expect(error?.message).toMatch(`TLS: the proxy localhost:${port} does not speak TLS on this port (`);
  });

  test.each([
    ['/nowhere/ca.pem', 'cannot use the CA file /nowhere/ca.pem: no such file or directory'],
    ['package.json', 'cannot use the CA file package.json: it contains no PEM certificate'],
  ])('--ca-file %s is reported before anything is sent', async (file, message) => {
    const { port, connections } = await openOrigin(() => ({}), authority.issue('DNS:localhost'));
    const ran = await list(`https://localhost:${port}`, `--ca-file ${file}`);
    expect(ran.error?.exit).toBe(3);
    expect(ran.error?.message).toContain(message);
    expect(connections()).toBe(0);
  });

  test('a --ca-file of which one certificate cannot be read is exit 3', async () => {
    const file = join(emptyHome(), 'ca.pem');
    writeFileSync(file, `${rootCertificates[0]}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
    const ran = await list('https://localhost:1', `--ca-file ${file}`);
    expect(ran.error?.exit).toBe(3);
    expect(ran.error?.message).toContain(`cannot use the CA file ${file}: `);
  });

  test('an https URL of a plain http service is reported as TLS', async () => {
    const { port, seen } = await openOrigin();
    const ran = await list(`https://localhost:${port}`);
    expect(ran.error).toMatchObject({ exit: 7 });
    expect(ran.error?.message).toMatch(/^TLS: /);
    expect(seen).toEqual([]);
  });
});

test('a name without an address is reported as DNS', async () => {
  const ran = await list('https://nowhere.invalid', '--retries 0');
  expect(ran.error).toMatchObject({ exit: 7 });
  expect(ran.error?.message).toMatch(/^DNS: no address for nowhere\.invalid \((ENOTFOUND|EAI_AGAIN)\)$/);
});

test('a service that is not there is reported as no connection, after the repeats', async () => {
  const ran = await list('http://127.0.0.1:1');
  expect(ran.error).toMatchObject({ exit: 7, message: 'no connection to 127.0.0.1:1 (ECONNREFUSED)' });
  expect(ran.slept).toHaveLength(5);
});

test('a service that never answers is reported as a time-out', async () => {
  const { alarm, ring } = alarmByHand(3_600_000);
  const { port, seen } = await openOrigin(() => ring());
  const ran = await list(`http://127.0.0.1:${port}`, '--timeout 1h --retries 1', { alarm });
  expect(ran.error).toMatchObject({
    exit: 7,
    message: `timeout: no complete response from 127.0.0.1:${port} within 1h`,
    hint: 'Run the command again, or increase --timeout.',
  });
  expect(seen).toHaveLength(2);
});

test('a service that accepts connections and says nothing of TLS is reported as a time-out', async () => {
  const { alarm, ring } = alarmByHand(3_600_000);
  const server = createServer(() => ring());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ran = await list(`https://127.0.0.1:${port}`, '--timeout 1h --retries 0', { alarm });
  expect(ran.error?.message).toBe(`timeout: no connection to 127.0.0.1:${port} within 1h`);
});

test.each(['http://licenses.example.com', 'http://10.0.0.1', 'http://127.0.0.1.example.com'])(
  'a key is not sent to %s',
  async (base) => {
    const ran = await list(base, '--retries 0');
    expect(ran.error).toMatchObject({ code: 'config', exit: 3 });
  },
);
