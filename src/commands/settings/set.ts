import { usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { parseJson } from '../../core/json.ts';
import { changeSettings } from '../../jobs/settings/change-settings.ts';
import { collect, fieldNamed, readField, type Assignment } from '../../schema/field.ts';
import { removedSettings, settings } from '../../schema/settings.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';

export default command({
  name: 'settings set',
  summary: "Change the account's settings",
  about: [
    'Every value is checked before anything is sent. Choices are taken by name or number, and names may be written with dashes. ' +
      'settings list shows every setting.',
    'Passwords are never arguments: type the bare names old_password new_password to be asked for them, or use --from.',
    'A password, an e-mail address and a name are sent in requests of their own; passwords and e-mail are not sent again when the ' +
      'answer is lost (exit code 9). What the server ignored is named (exit code 6).',
  ],
  args: {
    setting: {
      kind: 'string',
      many: true,
      placeholder: 'NAME=VALUE',
      help: 'A setting and its value',
    },
  },
  options: {
    from: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Read NAME=VALUE lines or a JSON object from a file; - is standard input',
    },
    raw: {
      kind: 'string',
      many: true,
      placeholder: 'NAME=TEXT',
      help: 'Send a setting that this version does not know, as it is typed',
    },
  },
  examples: [
    'chatelaine settings set color_scheme=dark twenty_four_hour_time=true',
    'chatelaine settings set email-address-visibility=admins-only',
    'chatelaine settings set timezone=Europe/Berlin --dry-run',
  ],

  async *run({ setting: words = [], from, raw = [] }, context) {
    const lines = from === undefined ? [] : linesOf(await context.read(from));
    const typed = collect(
      [...words.map((word) => ({ word, secret: false })), ...lines.map((word) => ({ word, secret: true }))],
      ({ word, secret }) => readWord(word, secret, context),
    );
    const values = [...typed, ...collect(raw, readRaw)];
    checkSet(values);
    yield* changeSettings(context.chat(), await askSecrets(values, context), (text) => context.note(text));
  },

  show: { columns: ['name', 'value', 'status'] },
});

/** A value that is asked for when all else has been found right. */
const toBeAsked = Symbol('to be asked');

function readWord(word: string, mayHoldSecret: boolean, context: Context): Assignment {
  const at = word.indexOf('=');
  const typed = at < 0 ? word : word.slice(0, at);
  const name = typed.replaceAll('-', '_');
  // A line of a file may be a password that lost its name: it is not repeated.
  if (mayHoldSecret && at < 0 && !Object.hasOwn(settings, name)) throw usage('--from: a line is not NAME=VALUE');
  const removed = Object.hasOwn(removedSettings, name) ? removedSettings[name] : undefined;
  if (removed !== undefined) throw usage(removed);
  const field = fieldNamed(settings, name, typed);
  if (field.kind !== 'secret') {
    if (at < 0) throw usage(`'${word}': expected NAME=VALUE`);
    return { name, field, value: readField(name, field, word.slice(at + 1)) };
  }
  if (at < 0) return { name, field, value: toBeAsked };
  if (!mayHoldSecret) return { name, field, value: readField(name, field, '') };
  return { name, field, value: context.hide(word.slice(at + 1)) };
}

function readRaw(word: string): Assignment {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`--raw '${word}': expected NAME=TEXT`);
  const name = word.slice(0, at);
  if (/password/.test(name)) throw usage(`--raw ${name}: a secret is never taken from the command line`);
  return { name, field: { kind: 'string', help: '' }, value: word.slice(at + 1) };
}

function linesOf(text: string): string[] {
  if (text.trimStart().startsWith('{')) {
    return collect(Object.entries<unknown>(objectOf(text)), ([name, value]) => `${name}=${scalarText(name, value)}`);
  }
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
}

function scalarText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  throw usage(`--from: ${name} is neither a text, a number, nor true or false`);
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return parseJson(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw usage('--from: the file begins like JSON, and is not valid JSON');
  }
}

function checkSet(values: readonly Assignment[]): void {
  const names = values.map(({ name }) => name);
  if (names.length === 0) throw usage('nothing to set', 'Give NAME=VALUE; settings list shows the names.');
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw usage(`given twice: ${[...new Set(twice)].join(', ')}`);
  if (names.includes('new_password') !== names.includes('old_password'))
    throw usage('old_password and new_password go together');
}

async function askSecrets(values: readonly Assignment[], context: Context): Promise<Assignment[]> {
  const asked: Assignment[] = [];
  for (const assignment of values) {
    const { name, value } = assignment;
    asked.push(value === toBeAsked ? { ...assignment, value: await askSecret(name, context) } : assignment);
  }
  return asked;
}

/** A new password is typed twice: nobody sees a slip. */
async function askSecret(name: string, context: Context): Promise<Secret> {
  const secret = await context.secret(`${name.replace('_', ' ')}:`);
  if (name === 'new_password' && !secret.equals(await context.secret('new password again:')))
    throw usage('the new password was typed in two ways: nothing was sent');
  return secret;
}
