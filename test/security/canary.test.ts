import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWhole, onesFor, sampleOf, seed } from '../helpers/extent.ts';
import { openOrigin, type Reply, type Respond, type Seen } from '../helpers/origin.ts';
import { emptyHome, runAlone, type Ran, type RunOptions } from '../helpers/run.ts';

/** Values that are nowhere else, with everything that some encoding spells in another way. */
const licensingKey = 'Lic+Canary/="\\%42&x~key';
const chatKey = 'ChatCanary\\"/+=%&key7';
const oldPassword = 'OldCanary "pass\\word"+/ä€ß';
const newPassword = 'New\tCanary/+&=%Ω-pass';
const email = 'ada@chat.test';
const licenseCodes = ['CODE-CANARY-00001', 'CODE-CANARY-00002'];

const secrets = [licensingKey, chatKey, oldPassword, newPassword];

/** As servers write what they repeat. */
function spellingsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text);
  return [
    json,
    json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    json.replaceAll('/', '\\/'),
    url,
    url.replace(/%../g, (escape) => escape.toLowerCase()),
    new URLSearchParams({ a: text }).toString().slice(2),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(`${email}:${text}`).toString('base64'),
    Buffer.from(text).toString('base64url'),
  ];
}

/** The value, its spellings, and those within a JSON error. */
function formsOf(secret: string): string[] {
  const forms = [secret, ...spellingsOf(secret)];
  return [...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))];
}

const hidden = [...new Set(secrets.flatMap(formsOf))];

/** A hostile service: it sends back what it received, in every spelling. */
function echo({ authorization = '', body, url }: Seen): string {
  const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  const texts = [authorization, authorization.replace('Token ', ''), basic, basic.replace(`${email}:`, '')];
  const fields = body.startsWith('{') ? [] : [...new URLSearchParams(body).values()];
  return [
    url.replace(/license\/.*/, ''),
    body,
    ...[...texts, ...fields].flatMap((text) => [text, ...spellingsOf(text)]),
  ].join(' | ');
}

const licenses = JSON.stringify(
  licenseCodes.map((license_code, index) => ({ license_code, remote_user: `user-${index}`, size_allowance: 4 })),
);
const one = JSON.stringify({ license_code: licenseCodes[0], remote_user: 'user-0', app_code: 7, size_allowance: 4 });

const kind = (request: Seen): 'chat' | 'licensing' => (request.url.startsWith('/api/') ? 'chat' : 'licensing');

const replies: Readonly<Record<string, Respond>> = {
  'all is well': (request) => {
    if (kind(request) === 'chat')
      return { body: '{"result":"success","msg":"","messages":[],"zulip_feature_level":489}' };
    if (request.method !== 'GET') return { body: JSON.stringify({ ...JSON.parse(one), ...JSON.parse(request.body) }) };
    return { body: request.url.split('?')[0] === '/v1/license/' ? licenses : one };
  },
  'refused with an echo': (request) => refusal(request, 401),
  'rejected with an echo': (request) => refusal(request, 400),
  'broken with an echo': (request) => refusal(request, 500),
  'a page with an echo': (request) => ({
    status: 403,
    headers: { 'content-type': 'text/html', 'set-cookie': 'session=CookieCanary' },
    body: `<html><title>${echo(request)}</title></html>`,
  }),
  'a text with an echo': (request) => ({ status: 418, body: echo(request) }),
  'a list of errors by field': (request) => ({
    status: 400,
    body: JSON.stringify({ [echo(request)]: [echo(request)], remote_user: [echo(request)] }),
  }),
  'broken JSON with license codes': (request) => ({ body: `${kind(request) === 'chat' ? echo(request) : licenses}]]` }),
  'a redirect with everything in it': (request) => ({
    status: 302,
    headers: { location: `https://elsewhere.example${request.url}?${encodeURIComponent(echo(request))}` },
    body: '',
  }),
  'too many requests with an echo': (request) => ({ ...refusal(request, 429), headers: { 'retry-after': '86400' } }),
  'licenses without a key': (request) => ({
    body:
      kind(request) === 'chat'
        ? '{"result":"error","msg":"no"}'
        : `{"a":"${licenseCodes[0]}","b":"${licenseCodes[1]}"}`,
  }),
};

function refusal(request: Seen, status: number): Reply {
  const said = echo(request);
  const body =
    kind(request) === 'chat' ? { result: 'error', msg: said, code: 'BAD_REQUEST', extra: said } : { detail: said };
  return { status, headers: { 'x-echo': encodeURIComponent(said) }, body: JSON.stringify(body) };
}

const roster = 'remote_user,size_allowance\nuser-0,5\nuser-1,4\nuser-9,3\n';
const passwords = `old_password=${oldPassword}\nnew_password=${newPassword}\n`;
const code = licenseCodes[0] ?? '';

const lines: readonly (readonly [line: string, stdin?: string])[] = [
  ['license list'],
  [`license view ${code}`],
  ['license view -', `${code}\n`],
  ['license view --remote-user user-0'],
  [`license edit ${code} --size-allowance 5`],
  ['license create --remote-user user-9 --size-allowance 3'],
  ['license ensure --remote-user user-0 --size-allowance 5'],
  ['license ensure --remote-user user-9 --size-allowance 3'],
  ['license apply - --input-format csv', roster],
  ['license apply - --input-format csv --dry-run', roster],
  ['license audit'],
  ['first-activation D422CD000301'],
  ['first-activation audit - --input-format csv', 'mac_address,remote_user\nD422CD000301,user-0\n'],
  ['settings set --from -', passwords],
  ['settings set --from - --dry-run', passwords],
  ['settings set email=ada@new.test full_name=Ada color_scheme=dark'],
  ['messages fetch'],
  ['topic delete 5 lunch --confirm lunch --no-archive'],
  ['view rename narrow/is/alerted Zed'],
  ['snippet rm 1'],
  ['auth status'],
  ['auth login licensing --base-url {url} --app-code 7 --name lic --api-key-stdin', `${licensingKey}\n`],
  ['auth login chat --site {url} --email ada@chat.test --name chat --api-key-stdin', `${chatKey}\n`],
  ['auth login licensing --base-url {url} --app-code 8 --name kept --api-key-stdin --no-check', `${licensingKey}\n`],
  ['auth import - --name zrc --no-check', `[api]\nemail=${email}\nkey=${chatKey}\nsite={url}\n`],
  ['auth logout kept'],
];

interface Scan {
  readonly where: string;
  readonly text: string;
}

/** Every text that a run leaves behind, but the data on stdout and the file that is there to hold keys. */
function traces(ran: Ran): Scan[] {
  const files = readdirSync(ran.home, { recursive: true, encoding: 'utf8' });
  return [
    { where: 'stderr', text: ran.stderr },
    { where: 'file names', text: files.join('\n') },
    ...files
      .filter((name) => statSync(join(ran.home, name)).isFile() && !name.endsWith('credentials.json'))
      .map((name) => ({ where: name, text: readFileSync(join(ran.home, name), 'utf8') })),
  ];
}

function found(scans: readonly Scan[], needles: readonly string[]): string[] {
  return scans.flatMap(({ where, text }) =>
    needles
      .filter((needle) => text.includes(needle))
      .map(
        (needle) =>
          `${where} shows ${needle}: …${text.slice(Math.max(0, text.indexOf(needle) - 60), text.indexOf(needle) + 60)}`,
      ),
  );
}

const allFlags = ['--trace -o json', '--verbose -o table', '--dry-run -v -o yaml'];

/** Each line is run with one of the flags for each shape of answer; the seed decides with which. */
function flagsFor(shape: string, index: number): readonly string[] {
  return onesFor(Object.keys(replies).indexOf(shape) + index, allFlags);
}

test.each(sampleOf(3, Object.entries(replies)))(
  `no secret is shown by any command when the answer is: %s${isWhole ? '' : ` (seed ${seed})`}`,
  async (shape, respond) => {
    const shown: string[] = [];
    const origin = await openOrigin(respond);
    const url = `http://127.0.0.1:${origin.port}`;
    const home = emptyHome();
    for (const [index, [line, stdin]] of lines.entries()) {
      for (const flags of flagsFor(shape, index)) {
        const ran = await runAlone(
          `${line.replace('{url}', url)} ${flags}`,
          optionsOf(url, home, stdin?.replace('{url}', url)),
        );
        if (ran.exitCode === 1) shown.push(`${line}: a bug: ${ran.stderr}`);
        const isCode = /dry-run/.test(flags) && line.includes(code);
        shown.push(
          ...found(traces(ran), [...hidden, ...(isCode ? [] : licenseCodes), 'CookieCanary']).map(
            (what) => `${line} ${flags}: ${what}`,
          ),
          ...found([{ where: 'stdout', text: ran.stdout }], hidden).map((what) => `${line} ${flags}: ${what}`),
        );
      }
    }
    expect(origin.seen.length).toBeGreaterThan(20);
    expect(shown.slice(0, 8)).toEqual([]);
  },
);

function optionsOf(url: string, home: string, stdin: string | undefined): RunOptions {
  return {
    home,
    ...(stdin === undefined ? {} : { stdin }),
    env: {
      CHATELAINE_BASE_URL: url,
      CHATELAINE_API_KEY: licensingKey,
      CHATELAINE_APP_CODE: '7',
      CHATELAINE_CHAT_SITE: url,
      CHATELAINE_CHAT_EMAIL: email,
      CHATELAINE_CHAT_API_KEY: chatKey,
    },
  };
}

test('the scan finds what it looks for', () => {
  const home = emptyHome();
  writeFileSync(join(home, 'note'), `x ${encodeURIComponent(chatKey)} y`);
  const ran = { home, stderr: JSON.stringify({ key: licensingKey }) } as Ran;
  expect(found(traces(ran), hidden).map((what) => what.split(' shows ')[0])).toEqual(
    expect.arrayContaining(['stderr', 'note']) as string[],
  );
});

test('only auth token shows a key, on stdout', async () => {
  const url = 'http://127.0.0.1:1';
  const home = emptyHome();
  const stored =
    'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --name lic --api-key-stdin --no-check';
  await runAlone(stored, { home, stdin: `${licensingKey}\n` });
  const ran = await runAlone('auth token lic --trace', { home });
  expect({ exit: ran.exitCode, stdout: ran.stdout }).toEqual({ exit: 0, stdout: `${licensingKey}\n` });
  expect(found(traces(ran), hidden)).toEqual([]);
  expect(optionsOf(url, home, undefined).home).toBe(home);
});
