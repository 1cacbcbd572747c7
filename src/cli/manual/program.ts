import { nouns, type CommandEntry } from '../../commands/index.ts';
import { failures, nameOf, type FailureKind } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import { globalOptions, negatedTwinOf, twinOf, variables, withoutTwin } from '../../schema/environment.ts';
import type { Field } from '../../schema/field.ts';
import { licenseRules } from '../../schema/license.ts';
import { optionEntries, textOptions, type HelpEntry } from '../entries.ts';
import { groupsOf, twins } from '../help.ts';
import { journals, neverTwo } from './chapters.ts';
import type { Block, Chapter } from './roff.ts';

/** The chapters of chatelaine(1). */
export function programChapters(table: readonly CommandEntry[], guides: readonly string[]): Chapter[] {
  return [
    { title: 'SYNOPSIS', blocks: [{ lines: ['chatelaine COMMAND [OPTION…]', 'chatelaine COMMAND --help'] }] },
    { title: 'EXAMPLES', blocks: examples },
    { title: 'DESCRIPTION', blocks: description.map((text) => ({ text })) },
    { title: 'COMMANDS', blocks: commandBlocks(table) },
    {
      title: 'OPTIONS',
      blocks: [
        { text: 'Of every command:' },
        { entries: optionEntries(globalOptions) },
        { entries: textOptions },
        { text: twins },
      ],
    },
    { title: 'OUTPUT', blocks: output },
    { title: 'DRY RUNS', blocks: dryRuns.map((text) => ({ text })) },
    { title: 'CREDENTIALS', blocks: credentials },
    neverTwo(),
    journals(),
    { title: 'NETWORK', blocks: network.map((text) => ({ text })) },
    { title: 'ENVIRONMENT', blocks: [{ entries: environment() }] },
    { title: 'FILES', blocks: [{ entries: files }] },
    exitStatus(namesIn(failures)),
    { title: 'SEE ALSO', blocks: [{ text: [...table.map(pageOf), ...guides].join(', ') }] },
  ];
}

function pageOf({ name }: CommandEntry): string {
  return `chatelaine-${name.replaceAll(' ', '-')}(1)`;
}

/** The table of exit codes, of those kinds of failure. */
export function exitStatus(kinds: readonly FailureKind[]): Chapter {
  const codes = kinds.map((kind) => ({
    term: `${failures[kind].exit}`,
    text: `${nameOf(kind).replace('_', '-')}: ${failures[kind].means}.`,
  }));
  return {
    title: 'EXIT STATUS',
    blocks: [{ entries: [{ term: '0', text: 'ok: done, an empty result included.' }, ...codes] }],
  };
}

const description = [
  'chatelaine issues and manages the license keys of an application’s users, and does chores of a team chat: messages, topics, ' +
    'settings, navigation views and saved snippets. It is made for people at a terminal and for scripts in CI: it never makes a ' +
    'second license for a user by accident, and never calls a topic deleted that is not.',
  licenseRules,
  'chatelaine --sandbox COMMAND runs any command against an embedded server with sample data: nothing to start, nothing to sign in ' +
    'to. Its data stays until chatelaine sandbox reset.',
  'An argument that is - comes from standard input: the first line for one word, every line for a list of words. A file that is - ' +
    'is standard input. Durations are 400ms, 30s, 5m, 12h, 7d.',
].map((text) => text.replaceAll('’', "'"));

function commandBlocks(table: readonly CommandEntry[]): Block[] {
  return groupsOf(table).flatMap(({ title, entries }) => [
    { heading: title },
    { entries: entries.map(({ name, summary }) => ({ term: `chatelaine ${name}`, text: `${summary}.` })) },
  ]);
}

const output: readonly Block[] = [
  {
    text:
      'Standard output carries data and nothing else; progress, questions, notes, warnings and errors go to standard error. On a ' +
      'terminal a result is a table or a sentence, fitted to the width: constant columns are left out first, a key, user or name is ' +
      'never cut, what does not fit is shown one field a line, dates are in the time zone of TZ, and the last line names the columns ' +
      'that were left out; in a pipe it is tsv, whole and without colour, with a header ' +
      '(--no-header), where a tab, line break or backslash in a value is written \\t, \\n, \\r or \\\\.',
  },
  {
    text:
      'json is one document, an array where the result is a list; ndjson is one object a line, as they come. Fields of the servers ' +
      'keep their names and values: a timestamp stays an integer. Text of a server is made harmless before a terminal shows it; the ' +
      'machine formats carry it unchanged. --csv-safe is for files that go into a spreadsheet.',
  },
  {
    text: 'With json and ndjson the last line of standard error is the error, and each warning is a line {"warning":"..."}:',
  },
  {
    lines: [
      '{"error":{"code":"not_found","exit":5,"message":"...","hint":"...",',
      ' "http":{"method":"GET","url":"...","status":404},"retryable":false}}',
    ],
  },
  {
    text:
      'It is written on one line. A list that could not be completed is a valid document too, and the exit code is 8: it never ' +
      'passes for a whole one. A closed pipe (chatelaine license list | head -1) is exit code 0.',
  },
];

const dryRuns = [
  'With --dry-run a command sends the reads that it needs, and no request that changes anything: it prints those as rows with the columns ' +
    'method, url, content_type and body, passwords removed. chatelaine license apply prints its plan, a row for each row of the file.',
  'With -o curl too, each of them is a line of bash or zsh in which curl sends the same request; license apply prints its requests. A line ' +
    'reads the key from a variable: that of the environment, or KEY_ with the name of the profile, and passwords from OLD_PASSWORD and ' +
    'NEW_PASSWORD. Standard error says how to set those that are not set. No key or password is an argument of a process. A line only ' +
    'sends: what chatelaine does besides, such as looking for a license before it creates one, and repeating safely, it does not do.',
];

const credentials: readonly Block[] = [
  {
    text:
      'A profile is one credential: an application of the licensing API or an account of the chat. chatelaine auth login stores one, ' +
      'chatelaine auth import reads a zuliprc file. Each kind has a default; --profile names another, and --app-code finds the stored ' +
      'application of that code.',
  },
  {
    text:
      'The environment can hold one of each kind in place of profiles. CHATELAINE_BASE_URL with CHATELAINE_API_KEY (or ' +
      'CHATELAINE_API_KEY_FILE) is one, CHATELAINE_APP_CODE completes it; CHATELAINE_CHAT_SITE, CHATELAINE_CHAT_EMAIL and ' +
      'CHATELAINE_CHAT_API_KEY (or CHATELAINE_CHAT_API_KEY_FILE) are the other. A complete one serves every command of its kind, ' +
      'unless --profile is typed; a part of one is exit code 3. The two are never mixed, and no file of the current folder is read.',
  },
  {
    text:
      'No option takes a key or password as its value. A key is sent to the origin that it was stored for and nowhere else. Plain ' +
      'http is accepted for this machine only. Keys are removed from whatever is traced, logged or reported.',
  },
];

const network = [
  'A request has 30 seconds, fetching messages 60, deleting a topic 75 (--timeout). What is safe to repeat is repeated up to 5 times ' +
    '(--retries) after a lost connection, a time-out, 502, 503 or 504. What is not safe is settled by looking, or ends with exit code ' +
    '9: creating a license, renaming a view, changing an e-mail address or password.',
  'A server that answers 429 is waited for as long as it says, by all requests of the run, but never beyond --deadline, or two ' +
    'minutes without one: then the exit code is 7. chatelaine license apply and chatelaine topic delete resume where they stopped ' +
    'when they are run again.',
];

function environment(): HelpEntry[] {
  const names = Object.entries<Field>(globalOptions)
    .filter(([name]) => !withoutTwin.has(name))
    .map(([name, field]) => (field.kind === 'boolean' && field.negatable ? negatedTwinOf(name) : twinOf(name)));
  const own = Object.entries(variables).map(([term, text]) => ({ term, text: `${text}.` }));
  return [...own, { term: names.join(', '), text: 'The options of those names; a switch is true, 1, false or 0.' }];
}

const files: readonly HelpEntry[] = [
  {
    term: '~/.config/chatelaine/config.json',
    text: 'Profiles, without keys. The folder is $XDG_CONFIG_HOME/chatelaine, or CHATELAINE_CONFIG_DIR; on Windows %APPDATA%\\chatelaine.',
  },
  { term: '~/.config/chatelaine/credentials.json', text: 'Keys; refused where others can read it.' },
  {
    term: '~/.local/state/chatelaine/journals/',
    text: 'Journals of unfinished jobs. The folder is $XDG_STATE_HOME/chatelaine; on Windows %LOCALAPPDATA%\\chatelaine.',
  },
  {
    term: '~/.local/state/chatelaine/locks/',
    text: 'Which process works on which users; in a folder of the temporary directory where the home cannot be written.',
  },
  { term: '~/.local/state/chatelaine/sandbox.ndjson', text: 'What was changed in the embedded sandbox.' },
  {
    term: '~/.cache/chatelaine/',
    text: 'The program as V8 compiled it, which makes each start faster; used only where this user alone can write it. It can be removed at any time.',
  },
];

const examples: readonly Block[] = [
  { text: 'Try it, with nothing to sign in to:' },
  {
    commands: [
      'chatelaine --sandbox license create --remote-user ada --size-allowance 4',
      'chatelaine --sandbox license list',
    ],
  },
  { text: 'The key of a user in a script, made if there is none:' },
  { commands: ['key=$(chatelaine license ensure --remote-user ada --size-allowance 4) || exit'] },
  { text: 'One license for every user of a file; first what would change, as exit code 10:' },
  { commands: ['chatelaine license apply roster.csv --dry-run --exit-code', 'chatelaine license apply roster.csv'] },
  { text: 'Every message of a channel, one object a line:' },
  { commands: ['chatelaine messages fetch --channel general --all -o ndjson > general.ndjson'] },
];

/** The heading of a noun's pages, for SEE ALSO of each. */
export function siblings(name: string, table: readonly CommandEntry[]): string {
  const [noun = ''] = name.split(' ');
  const own = table.filter((entry) => entry.name !== name && entry.name.split(' ')[0] === noun);
  const pages = own.map(pageOf);
  return ['chatelaine(1)', ...(noun in nouns ? pages : [])].join(', ');
}
