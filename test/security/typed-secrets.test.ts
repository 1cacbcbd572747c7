import { expect, test } from 'vitest';

import { onesFor } from '../helpers/extent.ts';
import { emptyHome, runAlone } from '../helpers/run.ts';

/** A value that looks like a key, typed where no key belongs (docs/apis.md, Credentials). */
const canary = 'CanaryKey0123456789abcdefGHIJ';
/** A key in base64; both hold a run of 20 letters and digits, which is hidden wherever it stands. */
const runs = [canary, 'Canary/Key+0123456789abcdefGHIJ'];
/** A key with dashes, which is known where it is a whole value. */
const dashed = 'sk_live-CanaryKey-0123456789';

const url = 'http://127.0.0.1:1';
const licensing = `auth login licensing --base-url ${url} --app-code 7`;
const unit = { CHATELAINE_BASE_URL: url, CHATELAINE_API_KEY: 'licensing-key', CHATELAINE_APP_CODE: '7' };
const chatUnit = { CHATELAINE_CHAT_SITE: url, CHATELAINE_CHAT_EMAIL: 'a@b.test', CHATELAINE_CHAT_API_KEY: 'chat-key' };
const both = { ...unit, ...chatUnit };

interface Row {
  readonly line: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly exit?: 2 | 3 | 7;
}

/** `V` is the canary. Exit 2 unless a row says 3. */
const rows: readonly Row[] = [
  // As the value of an option that does not exist, in every spelling.
  ...['--api-key V', '--api-key=V', '--token=V', '--password V', '-kV'].map((option) => ({
    line: `${licensing} ${option}`,
  })),
  { line: '--api-key=V license list' },
  { line: 'license list --V' },
  { line: 'auth --api-key=V' },
  // As the value of an option that takes none.
  { line: `${licensing} --api-key-stdin=V` },
  { line: 'license list --trace=V' },
  // As the value of an option that takes something else.
  { line: `${licensing} --api-key-file=V`, exit: 3 },
  { line: `${licensing} --key-command V`, exit: 3 },
  { line: `${licensing} --key-command 'echo "V'` },
  { line: `auth login licensing --base-url V --app-code 7 --api-key-stdin`, stdin: 'k' },
  { line: `auth login licensing --base-url http://V --app-code 7 --api-key-stdin`, stdin: 'k', exit: 3 },
  { line: `auth login licensing --base-url https://x.test/?key=V --app-code 7 --api-key-stdin`, stdin: 'k' },
  { line: `auth login licensing --base-url https://ada:V@x.test --app-code 7 --api-key-stdin`, stdin: 'k' },
  { line: `auth login licensing --base-url ${url} --app-code V --api-key-stdin`, stdin: 'k' },
  { line: `auth login chat --site 'V x' --email a@b.test --api-key-stdin`, stdin: 'k' },
  { line: `auth login chat --site ${url} --email a:V --api-key-stdin`, stdin: 'k' },
  { line: `${licensing} --api-key-stdin --name +V`, stdin: 'k' },
  { line: 'license list -o V' },
  { line: 'auth list --fields V' },
  { line: 'license list --timeout V' },
  { line: 'license list --profile V', exit: 3 },
  { line: 'license create --remote-user ada --size-allowance V' },
  { line: 'messages fetch --narrow V' },
  { line: 'messages fetch --not V' },
  { line: 'license apply V', env: unit },
  { line: 'auth import V' },
  { line: 'settings set --from V' },
  { line: 'settings set --raw new_password=V' },
  // As a word.
  { line: 'V' },
  { line: 'V --help' },
  { line: 'license V --help' },
  { line: 'auth login licensing V' },
  { line: 'auth token V', exit: 3 },
  { line: 'auth logout V', exit: 3 },
  { line: 'settings set new_password=V' },
  { line: 'settings set color_scheme=V' },
  { line: 'settings set V' },
  { line: 'settings describe V' },
  // A word is a title, which is looked for in the list of snippets.
  { line: 'snippet rm V', exit: 7 },
  { line: 'snippet rm -', stdin: 'V\n', exit: 7 },
  { line: 'first-activation V' },
  { line: 'sandbox reset V' },
  // As a variable.
  ...['OUTPUT', 'TIMEOUT', 'QUIET'].map((name) => ({
    line: 'license list',
    env: { ...unit, [`CHATELAINE_${name}`]: 'V' },
  })),
  { line: 'license list', env: { CHATELAINE_PROFILE: 'V' }, exit: 3 },
  { line: 'license list', env: { ...unit, CHATELAINE_APP_CODE: 'V' } },
  { line: 'license list', env: { ...unit, CHATELAINE_BASE_URL: 'V' } },
  { line: 'license list', env: { ...unit, CHATELAINE_API_KEY: undefined, CHATELAINE_API_KEY_FILE: 'V' }, exit: 3 },
  { line: 'license list', env: { ...unit, CHATELAINE_API_KEY: 'V\u00e4' }, exit: 3 },
  { line: 'license list', env: { CHATELAINE_API_KEY: 'V' }, exit: 3 },
  { line: 'license list', env: { CHATELAINE_CONFIG_DIR: 'V' }, exit: 3 },
  { line: 'messages fetch', env: { ...chatUnit, CHATELAINE_CHAT_EMAIL: 'a:V' } },
  { line: 'messages fetch', env: { CHATELAINE_CHAT_EMAIL: 'V' }, exit: 3 },
];

const placed = (text: string, value: string): string => text.replaceAll(/\bV\b|(?<=-[ko])V/g, value);

const filled = (env: Row['env'], value: string): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env ?? both).map(([name, text]) => [name, text && placed(text, value)]));

test.each(
  rows.map((row) => ({
    ...row,
    shown: `${Object.values(row.env ?? {}).includes('V') ? JSON.stringify(row.env) : ''} ${row.line}`,
  })),
)('a key typed where none belongs is refused and not repeated:$shown', async ({ line, env, stdin, exit = 2 }) => {
  const home = emptyHome();
  const isWhole =
    !/[^\s=ko]V\b|'V /.test(line) && Object.values(env ?? {}).every((text) => !/[^V]V|V[^V]/.test(text ?? ''));
  for (const [turn, value] of (isWhole ? [...runs, dashed] : runs).entries()) {
    for (const look of onesFor(turn + line.length, ['', ' -o json', ' --verbose'])) {
      const isFormat = /V --help|output|-o|^help|^V$/i.test(line) || env?.['CHATELAINE_OUTPUT'] !== undefined;
      const ran = await runAlone(placed(line, value) + (isFormat ? '' : look), {
        home,
        env: filled(env, value),
        ...(stdin === undefined ? {} : { stdin: placed(stdin, value) }),
      });
      const said = ran.stdout + ran.stderr;
      expect({ exit: ran.exitCode, said, leaks: leaks(said, value) }).toEqual({ exit, said, leaks: [] });
      expect(ran.stderr).toMatch(/\S/);
    }
  }
});

/** The pieces of eight characters of the value that a text shows. */
function leaks(text: string, value: string): string[] {
  const pieces = Array.from({ length: value.length - 7 }, (_unused, index) => value.slice(index, index + 8));
  return pieces.filter((piece) => text.toLowerCase().includes(piece.toLowerCase()));
}

test.each<readonly [what: string, line: string, name: string, exit: 2 | 3]>([
  [
    'a setting whose name is long',
    'settings set web_escape_navigates_to_home_view=V',
    'web_escape_navigates_to_home_view',
    2,
  ],
  ['a roster', 'license apply customers-of-the-spring-fair.csv', 'customers-of-the-spring-fair.csv', 2],
  ['a path', 'license apply /srv/rosters-of-this-company/march', '/srv/rosters-of-this-company/march', 2],
  ...[
    String.raw`C:\rosters-of-this-company-north\march`,
    String.raw`.\rosters-of-this-company-north\march`,
    String.raw`\server\rosters-of-this-company-north\x`,
  ].map((path) => ['a path of Windows', `license apply '${path}'`, path, 2] as const),
  [
    'a host',
    'auth login chat --site http://chat-of-a-large-company.example.com --email a@b.test',
    'chat-of-a-large-company',
    3,
  ],
  ['a file of keys', `${licensing} --api-key-file /run/secrets/licensing-key-of-app-7`, 'licensing-key-of-app-7', 3],
])('%s is named, however long it is', async (_what, line, name, exit) => {
  const { exitCode, stderr } = await runAlone(line, { env: unit });
  expect(exitCode).toBe(exit);
  expect(stderr).toContain(name);
});

test.each([
  'settings set enable_drafts_syncronization=true',
  'settings describe enable-offline-push-notificatons',
  'license list --profile europe-north-release-notes',
  'auth use europe-north-release-notes',
  'auth logout europe.north.release.notes',
  'license audit --fields remote_user,license_allowance_left',
])('a long name that is mistyped is shown: %s', async (line) => {
  const word = /[\w.-]{20,}/.exec(line)?.[0] ?? '';
  const { stderr } = await runAlone(line, { home: emptyHome(), env: unit });
  expect(stderr).toContain(word);
  expect(stderr).not.toContain('hidden');
});

test.each(['sk_live_abcdefghijkl', 'correct-horse-battery-staple', 'correct_horse_battery_staple_again'])(
  'a key or passphrase of words is hidden behind a name that speaks of one: %s',
  async (value) => {
    for (const line of ['license list --api-key V', 'settings set new_password V', 'settings set new_password=V']) {
      const { stderr } = await runAlone(line.replace('V', value), { home: emptyHome(), env: both });
      expect(`${line}: ${stderr}`).not.toContain(value);
    }
  },
);
