import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openAuthority, type Authority } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';
import { emptyHome, runAlone, type Ran } from '../helpers/run.ts';

const list = (base: string, more = ''): Promise<Ran> =>
  runAlone(`license list -o json ${more}`, {
    env: { CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7' },
  });

const trust =
  'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS; or, if the system trusts it, with --system-ca (Node 22.15 or ' +
  'newer).';

describe('--system-ca', needs('openssl'), () => {
  const real = Reflect.get(tls, 'getCACertificates') as unknown;
  const setSystem = (read: unknown): void => {
    Object.assign(tls, { getCACertificates: read });
    // Where Node has the function, importers see the new one only after this.
    syncBuiltinESMExports();
  };
  afterEach(() => setSystem(real));

  test('trusts what the system trusts', async () => {
    const authority = openAuthority();
    onTestFinished(() => authority.close());
    const { port } = await openOrigin(() => ({}), authority.issue('DNS:localhost'));
    setSystem((type: string) => (type === 'system' ? [readFileSync(authority.file, 'utf8')] : []));
    expect((await list(`https://localhost:${port}`)).exitCode).toBe(7);
    expect(await list(`https://localhost:${port}`, '--system-ca')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });

  test('is refused where Node cannot read them', async () => {
    setSystem(undefined);
    const { error } = await list('https://localhost:9', '--system-ca');
    expect(error).toMatchObject({ exit: 2, message: '--system-ca needs Node 22.15 or newer' });
  });
});

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
    ['of an unknown authority', 'DNS:localhost', false, '', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['of another authority', 'DNS:localhost', false, 'stranger', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['for another name', 'DNS:other.example', false, 'authority', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that is too old', 'DNS:localhost', true, 'authority', 'CERT_HAS_EXPIRED'],
  ])(
    'a certificate %s is reported as a failure of TLS, once, and no key is sent',
    async (_what, names, isExpired, trusted, code) => {
      const { port, seen, connections } = await openOrigin(() => ({}), authority.issue(names, isExpired));
      const file = { stranger: stranger.file, authority: authority.file }[trusted];
      const ran = await list(`https://localhost:${port}`, file === undefined ? '' : `--ca-file ${file}`);
      expect(ran.error).toMatchObject({
        code: 'unavailable',
        exit: 7,
        message: `TLS: the certificate of localhost:${port} is not trusted (${code})`,
        hint: trust,
      });
      expect({ seen, connections: connections() }).toEqual({ seen: [], connections: 1 });
    },
  );

  test.each([
    ['/nowhere/ca.pem', 'cannot use the CA file /nowhere/ca.pem: '],
    ['package.json', 'cannot use the CA file package.json: it holds no PEM certificate'],
  ])('--ca-file %s is reported before anything is sent', async (file, message) => {
    const { port, connections } = await openOrigin(() => ({}), authority.issue('DNS:localhost'));
    const ran = await list(`https://localhost:${port}`, `--ca-file ${file}`);
    expect(ran.error?.exit).toBe(3);
    expect(ran.error?.message).toContain(message);
    expect(connections()).toBe(0);
  });

  test('a --ca-file without PEM leads to openssl, which converts DER', async () => {
    const file = join(emptyHome(), 'ca.der');
    writeFileSync(file, Buffer.from('308201', 'hex'));
    const ran = await list('https://localhost:1', `--ca-file ${file}`);
    expect(ran.error).toMatchObject({ exit: 3, hint: `From DER: openssl x509 -inform DER -in ${file} -out ca.pem` });
  });

  test('a --ca-file whose certificate cannot be read is exit 3', async () => {
    const file = join(emptyHome(), 'ca.pem');
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
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
  const { port, seen } = await openOrigin(() => undefined);
  const ran = await list(`http://127.0.0.1:${port}`, '--timeout 100ms --retries 1');
  expect(ran.error).toMatchObject({
    exit: 7,
    message: `timeout: no complete answer from 127.0.0.1:${port} within 100ms`,
    hint: 'Run the command again, or give --timeout more.',
  });
  expect(seen).toHaveLength(2);
});

test('a service that accepts connections and says nothing of TLS is reported as a time-out', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ran = await list(`https://127.0.0.1:${port}`, '--timeout 100ms --retries 0');
  expect(ran.error?.message).toBe(`timeout: no connection to 127.0.0.1:${port} within 100ms`);
});

test.each(['http://licenses.example.com', 'http://10.0.0.1', 'http://127.0.0.1.example.com'])(
  'a key is not sent to %s',
  async (base) => {
    const ran = await list(base, '--retries 0');
    expect(ran.error).toMatchObject({ code: 'config', exit: 3 });
  },
);
