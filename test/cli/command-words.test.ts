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
  ['help retire', 'license retire --help'],
  ['help delete topic', 'topic delete --help'],
  ['help pull archive', 'archive pull --help'],
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
  ['auth use a b', 'chatelaine auth use takes one argument; 2 were given', see('auth use NAME [OPTION…]')],
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

test('help says what exit codes mean', async () => {
  const one = await run(fakeService(), 'help 8', { bare: true });
  const all = await run(fakeService(), 'help exit-codes', { bare: true });
  expect(one).toMatchObject({
    exitCode: 0,
    stdout:
      '  8  not everything was done, perhaps nothing; the message says what is left\n' +
      '     Do what the hint says; retryable (-o json) says whether to run the\n     command again.\n',
  });
  expect(
    all.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => Number(line.slice(0, 3))),
  ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 129, 130, 143]);
  expect((await run(fakeService(), 'help 12', { bare: true })).exitCode).toBe(2);
});

test.each([
  ['9', /^ {2}9 {2}a call that is not safe .*\n {5}Check before you repeat: the message says what to check\./],
  [
    '10',
    /^ 10 {2}an audit or a check found differences\n {5}Not an error: an audit or comparison found something\.\n$/,
  ],
  ['11', /^ 11 {2}a user for whom this run created a license has several\n {5}Look which of the licenses is used/],
  ['124', /^124 {2}The program timeout ended the command\. What it did stays recorded: give\n {5}it more time/],
  ['126', /^126 {2}The shell found the program, but may not run it/],
  ['127', /^127 {2}The shell did not find chatelaine, or node/],
  ['128', /^128 {2}Another program in the script/],
  ['130', /^130 {2}interrupted.*\n {5}Run the same command again any time\.\n$/],
  ['134', /^134 {2}Node\.js aborted, often out of memory\./],
  [
    '137',
    /^137 {2}Killed by SIGKILL, often out of memory\. What it did stays recorded: run\n {5}it again \(license create: check first\)\.\n$/,
  ],
  ['143', /^143 {2}ended by SIGTERM.*\n {5}Run the same command again any time\. Windows/],
])('`chatelaine help %s` says what to do', async (code, text) => {
  const { exitCode, stdout } = await run(fakeService(), `help ${code}`, { bare: true });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(text) as string });
});

test.each(['--sandbox help 8', '-p prod help 8', '--sandbox -q help exit-codes'])(
  '%s leads to exit codes',
  async (line) => {
    const { exitCode, stdout } = await run(fakeService(), line, { bare: true });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('  8  not everything was done');
  },
);
