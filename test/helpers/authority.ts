import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Certificates are made when the tests run, so that none of them can be too old, and no private key is kept. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** PEM file of the authority itself. */
  readonly file: string;
  /** For `names`, such as `DNS:localhost,IP:127.0.0.1`. */
  issue(names: string, when?: 'past' | 'future'): Certificate;
  close(): void;
}

/** A private authority in a folder of its own. */
export function openAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-ca-'));
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test authority');
  let count = 0;
  return {
    file: join(folder, 'ca.pem'),
    issue(names, when) {
      const name = `server-${(count += 1)}`;
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=test');
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
      writeFileSync(join(folder, 'ca.cnf'), configuration);
      writeFileSync(join(folder, 'index.txt'), '');
      const year = { past: 2020, future: 2045 }[when ?? 'past'];
      const dates = when ? ['-startdate', `${year}0101000000Z`, '-enddate', `${year}0201000000Z`] : ['-days', '2'];
      const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
      openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', ...dates, ...files);
      const read = (ending: string): string => readFileSync(join(folder, `${name}.${ending}`), 'utf8');
      return { key: read('key'), cert: read('pem') };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const configuration = `[ca]
default_ca = own
[own]
database = index.txt
serial = serial
rand_serial = yes
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
`;
