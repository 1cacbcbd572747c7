import fc from 'fast-check';
import { globalOptions } from '../../src/commands/environment.ts';
import { flagOf, type Field } from '../../src/schema/field.ts';
import { commandTable } from '../../src/commands/index.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { fixedClock } from '../helpers/clock.ts';
import { judge } from './judge.ts';
import { environmentOf } from './mutating-server.ts';

/** A command line, its input and the variables that it finds. */
export interface LineCase {
  readonly line: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

const junk = [
  ...'- -- 0 -1 1e9 007 9007199254740993 true null {} [] [ %00 = a=b , ../.. /dev/null / . missing.csv'.split(' '),
  ...['', ' ', '\u001b[2J', '\u202e', '😀', '\ud800', 'é', 'x'.repeat(3000), '__proto__', 'constructor', 'toString'],
  ...'7d 30s 1ms id:7 name:2024 general ada 4711 dark newest * [a- ((((( json csv 2026-01-01'.split(' '),
  ...['99999999999999999d', '2026-02-30T25:00:00Z'],
];

const inputs = [
  '',
  '\n',
  '{}',
  '[]',
  'null',
  '[null]',
  '{"a":1}\nnull\n',
  'remote_user,size_allowance\nada,4\n',
  '\ufeff',
  '"',
  '\u0000',
];

/** Names of options with whether each takes a value, of one command or of all. */
type Flags = readonly (readonly [flag: string, takesValue: boolean])[];

/** A system gives no process a word with NUL. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...junk) },
  fc.string({ maxLength: 12 }).filter((text) => !text.includes('\0')),
);
const input = fc.constantFrom(...inputs);

/** Command lines of known commands and options with junk for values, and of junk alone. */
export async function lineCases(): Promise<fc.Arbitrary<LineCase>> {
  const loose = fc.array(word, { maxLength: 6 });
  const line = fc.oneof({ weight: 12, arbitrary: await commandLines() }, loose);
  const env = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.constantFrom(...environments));
  return fc.record({ line, stdin: input, env });
}

/** Every command with the options that it knows; what it serves is left out, since it does not end. */
async function commandLines(): Promise<fc.Arbitrary<string[]>> {
  const commands = await Promise.all(
    commandTable
      .filter(({ name }) => name !== 'sandbox serve')
      .map(async ({ name, load }) => ({ name, flags: flagsOf((await load()).options ?? {}) })),
  );
  return fc.constantFrom(...commands).chain(({ name, flags }) => {
    const option = flagged([...flags, ...flagsOf(globalOptions)]);
    return fc
      .array(fc.oneof({ weight: 3, arbitrary: option }, word.map(alone)), { maxLength: 7 })
      .map((words) => [...name.split(' '), ...words.flat(), '--deadline', '4s']);
  });
}

const environments: readonly Readonly<Record<string, string>>[] = [
  { CHATELAINE_OUTPUT: 'x' },
  { CHATELAINE_TIMEOUT: 'soon' },
  { CHATELAINE_APP_CODE: '-' },
  { CHATELAINE_BASE_URL: 'http://[' },
  { HTTP_PROXY: 'http://[' },
  { NO_COLOR: '1' },
  { CHATELAINE_CONFIG_DIR: 'relative' },
];
const alone = (word: string): string[] => [word];

function flagged(flags: Flags): fc.Arbitrary<string[]> {
  return fc
    .tuple(fc.constantFrom(...flags), word)
    .map(([[flag, takesValue], value]) => [flag, ...(takesValue ? [value] : [])]);
}

/** Junk in its place would be run as a program. */
const runsPrograms = '--key-command';

function flagsOf(fields: Readonly<Record<string, Field>>): Flags {
  return Object.entries(fields)
    .map(([name, field]) => [`--${flagOf(name, field)}`, field.kind !== 'boolean'] as const)
    .filter(([flag]) => flag !== runsPrograms);
}

const clock = fixedClock(Date.parse('2026-03-16T09:00:00Z'));

/** What is wrong with how the command line ends, against a sandbox of its own. */
export async function tryLine({ line, stdin, env }: LineCase): Promise<string[]> {
  const sandbox = await startSandbox({ clock });
  try {
    const given = { ...environmentOf(sandbox, sandbox.licensing.base_url), ...env };
    const { CHATELAINE_API_KEY = '', CHATELAINE_CHAT_API_KEY = '' } = given;
    const isPrinted = line.includes('token');
    const secrets = isPrinted ? [] : [CHATELAINE_API_KEY, CHATELAINE_CHAT_API_KEY];
    return await judge({ line, stdin, env: given, secrets, isEchoed: false });
  } finally {
    await sandbox.close();
  }
}
