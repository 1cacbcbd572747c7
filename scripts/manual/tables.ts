import { commandTable, nouns, type CommandEntry } from '../../src/commands/index.ts';
import { failures, nameOf, success, type FailureKind } from '../../src/core/failure.ts';
import { namesIn } from '../../src/core/table-names.ts';
import { optionEntries, textOptions, type HelpEntry, twins } from '../../src/cli/help.ts';
import { faultKinds, kindOf, type FaultKind } from '../../src/sandbox/faults.ts';
import { globalOptions, twinsOf, variables } from '../../src/commands/environment.ts';
import type { Field } from '../../src/schema/field.ts';
import { licenseRules } from '../../src/schema/license.ts';
import { variablesOf } from '../../src/schema/profile.ts';
import { settings } from '../../src/schema/settings.ts';
import type { Block } from './roff.ts';

/** Advice for each exit code. The last codes come from shells and systems; CI shows them. */
const exitAdvice: Readonly<Record<string, string>> = {
  1: 'Report it with the command.',
  2: 'Correct the command or the file.',
  3: 'Sign in, or set the variables; chatelaine doctor says what is missing.',
  4: 'Check the key and what its owner may do: chatelaine auth status.',
  5: 'Check the name. snippet rm and topic delete have --missing-ok.',
  6: 'Read what the server said. The same command fails again.',
  7: 'Run the same command again later.',
  8: 'Do what the hint says; retryable (-o json) says whether to run the command again.',
  9:
    'Check before you repeat: the message says what to check. This code is only for requests that a server cannot undo or would process twice: a license, an ' +
    'e-mail address, a password, the name of a view.',
  10: 'Not an error: an audit or comparison found something.',
  11: 'Find out which of the licenses is used, and retire the others: license view --remote-user, license retire CODE.',
  129: 'Run the same command again any time. If neither standard input nor standard error is a terminal (nohup), closing one has no effect.',
  130: 'Run the same command again any time.',
  143: 'Run the same command again any time. Windows has no SIGTERM: there it is Ctrl-Break, and taskkill /F ends a process at once; what is on disk by then stays.',
  124: 'The program timeout ended the command. What it did stays recorded: give it more time (license create: check first).',
  126: 'The shell found the program, but may not run it: check its permissions.',
  127: 'The shell did not find chatelaine, or node, which runs it: check PATH.',
  128: 'The code is from another program in the script, often git.',
  134: 'Node.js aborted, often out of memory. What it did stays recorded: run it again (license create: check first).',
  137: 'Killed by SIGKILL, often out of memory. What it did stays recorded: run it again (license create: check first).',
};

/** Variables that are not ours, but that the program reads. */
const variablesOfOthers: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: 'Folder of chatelaine/ with the configuration (default: ~/.config; on Windows APPDATA)',
  XDG_STATE_HOME:
    'Folder of chatelaine/ with records, locks and sandbox data (default: ~/.local/state; on Windows LOCALAPPDATA)',
  XDG_CACHE_HOME: 'Folder of chatelaine/ with the compiled program (default: ~/.cache)',
  PGPASSWORD:
    'Password of the ledger; also PGPASSFILE (~/.pgpass), PGHOST, PGPORT, PGUSER, PGDATABASE, PGSSLMODE, PGSSLROOTCERT',
  HTTPS_PROXY:
    'Proxy for https beyond this computer, as http://HOST:PORT; NO_PROXY lists hosts, addresses and ranges without it; ALL_PROXY and SOCKS are not used',
  HTTP_PROXY: 'The same for http',
  NODE_EXTRA_CA_CERTS: 'Certificates to trust besides the usual ones (PEM)',
  NODE_TLS_REJECT_UNAUTHORIZED: '0 is refused for a server beyond this computer',
  CI: 'Set, and not false, 0 or no: never ask',
  TZ: "Time zone of the times that are shown, and of times without a zone (default: the system's)",
  TERM: 'dumb: no colour, and no redrawn line of progress',
  NO_COLOR: 'Not empty: no colour',
  FORCE_COLOR: 'Not empty, and not 0 or false: colour in a pipe too',
  SUDO_USER: 'User whom the history names beside the account',
  TMPDIR: 'Folder for temporary files',
};

/** The text for each comment `<!-- table: NAME -->` in man. */
export const tables: Readonly<Record<string, () => readonly Block[]>> = {
  commands: () =>
    groupsOf(commandTable).flatMap(({ title, entries }) => [
      { heading: title },
      { entries: entries.map(({ name, summary }) => ({ term: `chatelaine ${name}`, text: `${summary}.` })) },
    ]),
  'options of every command': () => [
    { entries: optionEntries(globalOptions) },
    { entries: textOptions },
    { text: twins },
  ],
  environment: () => [
    {
      entries: [
        ...Object.entries({ ...variablesOf('licensing'), ...variablesOf('chat') }).map(sentenceEntry),
        ...Object.entries({ ...variables, ...variablesOfOthers }).map(sentenceEntry),
        optionVariables(),
      ],
    },
  ],
  'exit status': () => [{ entries: exitEntries(namesIn(failures)) }],
  'what to do': () => [
    {
      entries: namesIn(failures).map((kind) => ({
        term: `${failures[kind].exit} ${nameOf(kind).replace('_', '-')}`,
        text: exitAdvice[failures[kind].exit] ?? '',
      })),
    },
  ],
  'codes of other programs': () => {
    const own = new Set(Object.values(failures).map(({ exit }) => String(exit)));
    const others = Object.entries(exitAdvice).filter(([code]) => !own.has(code));
    return [{ entries: others.map(([term, text]) => ({ term, text })) }];
  },
  'license rules': () => [{ text: licenseRules }],
  settings: () => [
    { entries: Object.entries<Field>(settings).map(([term, field]) => ({ term, text: settingText(field) })) },
  ],
  faults: () => [{ entries: namesIn(faultKinds).map((term) => ({ term, text: faultText(term) })) }],
};

/** Groups of commands by their nouns; a last group has the other nouns, and commands without a noun. */
const groups: readonly { readonly title: string; readonly names: string }[] = [
  { title: 'License keys', names: 'license first-activation ledger' },
  { title: 'Team chat', names: 'messages archive channel topic settings view snippet' },
  { title: 'Credentials', names: 'auth' },
  { title: 'Sandbox: both services on this machine', names: 'sandbox' },
];

/** Every command once, in its group. */
export function groupsOf(table: readonly CommandEntry[]) {
  const nounOf = ({ name }: CommandEntry): string => name.split(' ')[0] ?? name;
  const ordered = groups.map(({ title, names }) => ({
    title,
    entries: names.split(' ').flatMap((noun) => table.filter((entry) => nounOf(entry) === noun)),
  }));
  const grouped = new Set(ordered.flatMap(({ entries }) => entries));
  return [...ordered, { title: 'Others', entries: table.filter((entry) => !grouped.has(entry)) }];
}

/** The rows of EXIT STATUS, for those kinds of failure. */
export function exitEntries(kinds: readonly FailureKind[]): HelpEntry[] {
  const codes = kinds.map((kind) => ({
    term: `${failures[kind].exit}`,
    text: `${nameOf(kind).replace('_', '-')}: ${failures[kind].means}.`,
  }));
  return [{ term: String(success.exit), text: `${success.name}: ${success.means}.` }, ...codes];
}

/** The names of the pages of those commands. */
export function references(commands: readonly { readonly name: string }[]): string[] {
  return commands.map(({ name }) => `${pageName(name)}(1)`);
}

export function pageName(command: string): string {
  return `chatelaine-${command.replaceAll(' ', '-')}`;
}

/** SEE ALSO of a command: the pages of its noun. */
export function siblings(name: string): string[] {
  const [noun = ''] = name.split(' ');
  const own = commandTable.filter((entry) => entry.name !== name && entry.name.split(' ')[0] === noun);
  return ['chatelaine(1)', ...(noun in nouns ? references(own) : [])];
}

function optionVariables(): HelpEntry {
  const names = Object.entries<Field>(globalOptions).flatMap(([name, field]) => twinsOf(name, field).slice(-1));
  return { term: names.join(', '), text: 'The options of those names; a switch is true, 1, false or 0.' };
}

function settingText(field: Field): string {
  const level = field.level === undefined ? [] : [`From feature level ${field.level}.`];
  return [`${field.help}.`, typeText(field), ...level].join(' ');
}

function typeText(field: Field): string {
  if (field.kind === 'boolean') return 'A boolean: true or false.';
  if (field.kind === 'secret') return 'Prompted for, or read with --from.';
  if (field.kind === 'string') return field.choices ? `One of ${field.choices.join(', ')}.` : 'A text.';
  if (field.kind !== 'integer') return '';
  if (!field.names) return `A number from ${field.min ?? 0} to ${field.max ?? ''}.`;
  const names = new Map<number, string[]>();
  for (const [name, value] of Object.entries(field.names)) names.set(value, [...(names.get(value) ?? []), name]);
  return `One of ${[...names].map(([value, known]) => `${value} ${known.join(' or ')}`).join(', ')}.`;
}

function faultText(name: FaultKind): string {
  const { means, argument } = kindOf(name);
  if (!argument) return sentence(means);
  const kinds = { duration: 'a duration', text: 'a URL', messages: 'a number of messages' };
  return `${sentence(means)} Argument: ${kinds[argument.kind]}, default ${argument.default}.`;
}

function sentenceEntry([term, text]: readonly [string, string]): HelpEntry {
  return { term, text: `${text}.` };
}

function sentence(means: string): string {
  return `${means.charAt(0).toUpperCase()}${means.slice(1)}.`;
}
