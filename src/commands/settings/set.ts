import { labelled, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { changeSettings } from '../../jobs/settings/change-settings.ts';
import { collect, readField, textField, type Assignment } from '../../schema/field.ts';
import { suggestion } from '../../schema/nearest.ts';
import { readSetting, settingNamed, unknownField } from '../../schema/setting-text.ts';
import { identitySettings, settings } from '../../schema/settings.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Keys, Terminal } from '../context.ts';
import { settingLine } from './read-settings.ts';

export default command({
  about: [
    'Every value is validated before anything is sent. Give choices by name or number; names may be written with dashes. ' +
      'settings list shows every setting, and settings get the current values.',
    'Passwords are never arguments: give the bare names old_password new_password to be prompted for them, or use --from.',
  ],
  args: {
    setting: { ...textField('NAME=VALUE', 'A setting and its value'), many: true },
  },
  options: {
    from: textField('FILE', 'Read settings from a file of NAME=VALUE lines; - is standard input'),
    raw: { ...textField('NAME=TEXT', 'Send a setting that this version does not know, unchanged'), many: true },
  },
  examples: [
    'chatelaine settings set color_scheme=dark twenty_four_hour_time=true',
    'chatelaine settings set email-address-visibility=admins-only',
    'chatelaine settings set timezone=Europe/Berlin --dry-run',
  ],

  dryRun: ['requests'],

  async *rows({ setting: words = [], from, raw = [] }, context) {
    const entries = from === undefined ? [] : settingLines(from, await context.disk.read(from));
    const values = readSettings(words, entries, raw, context);
    // A read-only profile is refused before a question.
    await context.chatAccount();
    if (values.some(({ name, value }) => name === 'enable_drafts_synchronization' && value === false))
      context.warn('enable_drafts_synchronization=false deletes all drafts that the server keeps');
    yield* changeSettings(context.chat(), await askSecrets(values, context), context.note);
  },

  show: {
    columns: [...whole('name'), 'value', 'value_name', 'status'],
    none: 'no setting was changed',
    line: ({ status, ...row }) =>
      status === 'set' ? settingLine(row) : `${settingLine(row)} (${status.replace('_', ' ')})`,
  },
});

/** The value of a secret that is prompted for once everything else is valid. */
const toBeAsked = Symbol('to be asked');

interface SettingEntry {
  /** File and line: `team.txt:3`. */
  readonly place: string;
  readonly name: string;
  readonly text: string | undefined;
}

/** Reads `NAME=VALUE` lines, and skips those that are blank or begin with #. */
function settingLines(file: string, text: string): readonly SettingEntry[] {
  const label = file === '-' ? 'standard input' : file;
  return text.split(/\r\n|\n|\r/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const at = line.indexOf('=');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    return [{ place: `${label}:${index + 1}`, name, text: at < 0 ? undefined : line.slice(at + 1) }];
  });
}

/** @throws Failure usage naming every error, each with the line of the file */
function readSettings(
  words: readonly string[],
  entries: readonly SettingEntry[],
  raw: readonly string[],
  { secrets: { hide } }: Keys,
): Assignment[] {
  const first = new Map<string, { readonly place: string; readonly value: unknown }>();
  const once = (assignment: Assignment, place: string): Assignment[] => {
    const { name, value } = assignment;
    const before = first.get(name);
    if (before && before.value !== value) throw usage(`given twice: ${name} (first: ${before.place})`);
    first.set(name, before ?? { place, value });
    return before ? [] : [assignment];
  };
  const readers = [
    ...words.map((word, index) => () => once(readWord(word, words[index + 1]), 'command line')),
    ...entries.map((entry) => () => labelled(entry.place, () => once(readEntry(entry, hide), entry.place))),
    ...raw.map((word) => () => once(readRaw(word), 'command line')),
  ];
  const values = collect(readers, (read) => read()).flat();
  checkTogether(new Set(first.keys()));
  return values;
}

function readWord(word: string, next = 'VALUE'): Assignment {
  const at = word.indexOf('=');
  // In `color_scheme dark`, `dark` is a value: to suggest a setting with a similar name would mislead.
  if (at < 0 && !Object.hasOwn(settings, word.replaceAll('-', '_')))
    throw usage(`'${word}': expected NAME=VALUE`, suggestion(word, Object.keys(settings)));
  const { name, field } = settingNamed(at < 0 ? word : word.slice(0, at));
  if (field.kind === 'secret') return { name, field, value: at < 0 ? toBeAsked : readField(name, field, '') };
  if (at < 0) throw usage(`'${word}': expected NAME=VALUE`, `Write ${name}=${next}, without blanks.`);
  return { name, field, value: readSetting(name, field, word.slice(at + 1)) };
}

function readEntry(entry: SettingEntry, hide: (text: string) => Secret): Assignment {
  const { text } = entry;
  if (isPerhapsSecret(entry.name, text)) throw usage(expectedLine);
  const { name, field } = settingNamed(entry.name);
  if (field.kind === 'secret') return { name, field, value: text === undefined ? toBeAsked : hide(text) };
  if (text === undefined) throw usage(`${name}: ${expectedLine}`);
  return { name, field, value: readSetting(name, field, text) };
}

const expectedLine = 'expected NAME=VALUE';

/** A line may be a password or key without its name: it is repeated only if it looks like a setting's name. */
function isPerhapsSecret(name: string, text: string | undefined): boolean {
  if (Object.hasOwn(settings, name.replaceAll('-', '_'))) return false;
  return text === undefined || !/^[a-z]{1,19}([-_][a-z0-9]{1,19})*$/i.test(name);
}

function readRaw(word: string): Assignment {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`--raw '${word}': expected NAME=TEXT`);
  const name = word.slice(0, at);
  if (/password/i.test(name)) throw usage(`--raw ${name}: a secret is never read from the command line`);
  // A server ignores a name in another spelling: target-users would change the caller's own settings.
  if (!/^[a-z][a-z0-9_]*$/.test(name))
    throw usage(`--raw ${name}: a name has lower-case letters, digits and underscores only`);
  return { name, field: unknownField, value: word.slice(at + 1) };
}

function checkTogether(names: ReadonlySet<string>): void {
  if (names.size === 0)
    throw usage('no setting is given', 'Write NAME=VALUE, one per line in a file; settings list shows the names.');
  if (names.has('new_password') !== names.has('old_password')) throw usage('give both old_password and new_password');
  const own = [...names].filter((name) => identitySettings.has(name));
  if (!names.has('target_users')) return;
  if (own.length > 0)
    throw usage(
      `target_users is about other users, and ${own.join(', ')} about the account that is signed in`,
      'Use two commands: nothing was sent.',
    );
  if (names.size === 1) throw usage('target_users without a setting changes nothing', 'Give NAME=VALUE too.');
}

async function askSecrets(values: readonly Assignment[], { terminal }: Terminal): Promise<Assignment[]> {
  const asked: Assignment[] = [];
  for (const assignment of values) {
    const { name, value } = assignment;
    asked.push(value === toBeAsked ? { ...assignment, value: await askSecret(name, terminal) } : assignment);
  }
  return asked;
}

/** Asks for a new password twice, since nobody sees a typo in it. */
async function askSecret(name: string, terminal: Terminal['terminal']): Promise<Secret> {
  const secret = await terminal.secret(`${name.replace('_', ' ')}:`);
  if (name === 'new_password' && !secret.equals(await terminal.secret('new password again:')))
    throw usage('the two new passwords differ: nothing was sent');
  return secret;
}
