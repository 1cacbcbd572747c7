import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../helpers/run.ts';
import { commandTable } from '../../src/commands/index.ts';
import { generalFormats } from '../../src/output/formats.ts';

test.each(['--version', '-V', 'version', 'license --version', 'license list --version', '-o json --version'])(
  '`chatelaine %s` prints the version',
  async (line) => {
    expect(await run(fakeService(), line, { bare: true })).toMatchObject({
      exitCode: 0,
      stdout: 'chatelaine 9.9.9\n',
      stderr: '',
    });
  },
);

test.each([
  ['help license', 'license --help'],
  ['license help', 'license --help'],
  ['license help create', 'license create --help'],
  ['help', '--help'],
  ['help license create', 'license create --help'],
])('`chatelaine %s` is `chatelaine %s`', async (word, option) => {
  const [asked, wanted] = await Promise.all([word, option].map((line) => run(fakeService(), line, { bare: true })));

  expect(asked).toMatchObject({ exitCode: 0, stdout: wanted?.stdout });
});

const verbsOf = (noun: string): string =>
  commandTable.flatMap(({ name }) => (name.startsWith(`${noun} `) ? name.slice(noun.length + 1) : [])).join(', ');
const licenseVerbs = verbsOf('license');

/** The hint that shows how a command is written. */
function see(synopsis: string): string {
  return `See --help. Usage:\n  chatelaine ${synopsis}`;
}

test.each([
  ['nosuch', "unknown command 'nosuch'", 'See chatelaine --help.'],
  ['postgres://ada:s3cr-et@db.test/x', 'unknown command [hidden: it may hold a password]', 'See chatelaine --help.'],
  ['ada:s3cr-et@db.test', 'unknown command [hidden: it may hold a password]', 'See chatelaine --help.'],
  [
    'license postgres://ada:s3cr-et@db.test/x',
    'unknown command [hidden: it may hold a password]',
    `Commands of license: ${licenseVerbs}.`,
  ],
  ['nosuch --help', "unknown command 'nosuch'", 'See chatelaine --help.'],
  ['help nosuch', "unknown command 'nosuch'", 'See chatelaine --help.'],
  ['licens --help', "unknown command 'licens'", 'Did you mean license?'],
  ['-o table licens list', "unknown command 'licens'", 'Did you mean license?'],
  ['-qo table --profile license licens', "unknown command 'licens'", 'Did you mean license?'],
  ['login', "unknown command 'login'", 'Did you mean auth login?'],
  ['list', "unknown command 'list'", 'Did you mean license list or settings list or archive list?'],
  ['license lst --help', "unknown command 'lst'", 'Did you mean list?'],
  ['license __proto__', "unknown command '__proto__'", `Commands of license: ${licenseVerbs}.`],
  [
    'messages --channel general',
    'chatelaine messages needs a command before --channel',
    `Commands of messages: ${verbsOf('messages')}.`,
  ],
  ['toString', "unknown command 'toString'", 'See chatelaine --help.'],
  ['toString help', "unknown command 'toString'", 'See chatelaine --help.'],
  ['auth use', 'NAME is required', see('auth use NAME [OPTION…]')],
  ['topic list', 'name one channel, or give --all-channels', 'See chatelaine topic list --help.'],
  [
    'license create ada 4',
    'chatelaine license create takes no argument; 2 were given',
    see('license create --remote-user U --size-allowance N [OPTION…]'),
  ],
  ['auth use a b', 'chatelaine auth use takes 1 argument; 2 were given', see('auth use NAME [OPTION…]')],
  ['license list --trace=1', '--trace does not accept a value', 'See chatelaine license list --help.'],
  ['license list -o', '--output needs a value', 'See chatelaine license list --help.'],
  ['license list --output xml', `--output: 'xml' is not one of ${generalFormats.join(', ')}`, undefined],
  ['topic delete general tea --keep x', 'unknown option --keep', 'Write --hold FILE.'],
  ['topic list general --keep x', 'unknown option --keep', 'Write --hold FILE.'],
  ['settings describe', 'NAME is required', see('settings describe NAME [OPTION…]')],
  ['license list --limt 3', 'unknown option --limt', 'Did you mean --limit?'],
  ['license list --output xlsx', `--output: 'xlsx' is not one of ${generalFormats.join(', ')}`, 'Did you mean excel?'],
  ['license create --user ada', 'unknown option --user', 'Did you mean --remote-user?'],
  ['license create --size 4', 'unknown option --size', 'Did you mean --size-allowance?'],
  ['archive export kitchen', '--output is required: ndjson, csv, text, html', 'See chatelaine archive export --help.'],
  ['messages fetch --author ada', 'unknown option --author', 'Did you mean --sender?'],
  [
    'ls',
    "unknown command 'ls'",
    'Did you mean license list or settings list or archive list or channel list or topic list?',
  ],
  [
    'revoke',
    "unknown command 'revoke'",
    'Did you mean topic delete or snippet rm or auth logout or view hide or license retire?',
  ],
  ['unpin', "unknown command 'unpin'", 'Did you mean view hide?'],
  ['license list -xyz', 'unknown option -x', 'See chatelaine license list --help.'],
])('`chatelaine %s` is exit 2: %s', async (line, message, hint) => {
  const { exitCode, stdout, lines } = await run(fakeService(), line, { bare: true, home: emptyHome() });

  expect({ exitCode, stdout, lines }).toEqual({
    exitCode: 2,
    stdout: '',
    lines: [`chatelaine: ${message}`, ...(hint === undefined ? [] : `hint: ${hint}`.split('\n'))],
  });
});

test.each(['text', 'html', 'markdown', 'curl'])(
  '-o %s, where a command lacks it, is exit 2 if typed and ignored in the environment',
  async (format) => {
    const line = 'settings list --fields name';
    const [typed, set, plain] = await Promise.all([
      run(fakeService(), `${line} -o ${format}`),
      run(fakeService(), line, { env: { CHATELAINE_OUTPUT: format } }),
      run(fakeService(), line),
    ]);

    expect(typed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(set).toMatchObject({ exitCode: 0, stdout: plain.stdout, stderr: '' });
  },
);

test.each<[string, unknown]>([
  ['undo', 'Did you mean license undo?'],
  ['history', 'Did you mean license history or topic history?'],
  ['rename', 'Did you mean license rename or view rename?'],
  ['restore', 'Did you mean license undo?'],
  ['license restore', 'Did you mean license undo?'],
  ['license delete', expect.stringContaining('license retire (the API cannot delete a license')],
  ['license rm', expect.stringContaining('license retire (the API cannot delete a license')],
  ['purge', expect.stringMatching(/^Did you mean topic delete or /)],
  ['settings set --new-password hunter22', expect.stringMatching(/^No option accepts a key/)],
])('%s is a word of other tools: %s', async (line, hint) => {
  expect(await run(fakeService(), `-o json ${line}`)).toMatchObject({ exitCode: 2, error: { hint } });
});
