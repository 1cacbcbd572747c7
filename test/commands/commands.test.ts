import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { builtInViews } from '../../src/schema/view.ts';
import { expectGolden } from '../helpers/golden.ts';
import { runAlone } from '../helpers/run.ts';

interface Tree {
  readonly groups: readonly NamedText[];
  readonly commands: readonly CommandRow[];
  readonly options: readonly FieldRow[];
  readonly exit_codes: readonly { readonly exit: number; readonly name: string; readonly means: string }[];
}

interface NamedText {
  readonly name: string;
  readonly summary: string;
}

interface CommandRow extends NamedText {
  readonly arguments: readonly FieldRow[];
  readonly options: readonly FieldRow[];
  readonly formats: readonly string[];
  readonly fields: readonly string[];
  readonly examples: readonly string[];
}

/** An option or an argument; what it has besides are rules of its values. */
interface FieldRow extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly option?: string;
  readonly short?: string;
  readonly placeholder?: string;
  readonly kind: string;
  readonly help: string;
}

async function described(): Promise<Tree> {
  const { exitCode, stdout } = await runAlone('commands -o json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as Tree;
}

test('the whole surface is the one that was read and found good', async () => {
  const tree = await described();
  const lines = [
    ...tree.options.map((option) => fieldLine('every command', option)),
    ...tree.groups.map(({ name, summary }) => `${name}: ${summary}`),
    ...tree.commands.flatMap(commandLines),
    ...tree.exit_codes.map(({ exit, name, means }) => `exit ${exit} ${name}: ${means}`),
  ];
  await expectGolden(`${lines.join('\n')}\n`, 'test/golden/surface.txt');
});

function commandLines(command: CommandRow): string[] {
  const { name, formats, fields, examples } = command;
  return [
    '',
    `${name}: ${command.summary}`,
    ...[...command.arguments, ...command.options].map((field) => fieldLine(name, field)),
    ...(formats.length > 0 ? [`${name} -o: ${formats.join(', ')}`] : []),
    ...(fields.length > 0 ? [`${name} --fields: ${fields.join(', ')}`] : []),
    ...examples.map((example) => `${name} $ ${example}`),
  ];
}

/**
 * `license list --limit N (integer, min 1, default 20): Maximum number of licenses`: all of it on one line, which a
 * reviewer reads.
 */
function fieldLine(command: string, { name, option, short, placeholder, kind, help, ...rules }: FieldRow): string {
  const [stated = '', preset] = / \((default: [^)]*)\)/.exec(help) ?? [];
  const typed = [short, option].filter((part) => part !== undefined).join(', ');
  const words = [command, typed === '' ? (placeholder ?? name) : typed, ...(typed === '' ? [] : [placeholder])];
  const notes = [kind, ...Object.entries(rules).map(ruleText), preset].filter(
    (note) => note !== undefined && note !== '',
  );
  return `${words.filter((word) => word !== undefined).join(' ')} (${notes.join('; ')}): ${help.replace(stated, '')}`;
}

function ruleText([rule, value]: readonly [string, unknown]): string {
  if (value === true) return rule;
  if (value === false || (Array.isArray(value) && value.length === 0)) return '';
  return `${rule} ${Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value)}`;
}

test('every command, option and argument says what it is for', async () => {
  const tree = await described();
  const rows = tree.commands.flatMap((command) => [...command.arguments, ...command.options]);
  for (const { name, help } of [...tree.options, ...rows]) {
    expect(help, name).toMatch(/^\S.*[^.\s]$/);
  }
  for (const { name, summary, examples } of tree.commands) {
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
    expect(examples.length, name).toBeGreaterThan(0);
  }
});

test('every command is there, with its options, their variables, and the exit codes', async () => {
  const tree = await described();
  expect(tree.commands.map(({ name }) => name)).toEqual(commandTable.map(({ name }) => name));
  const variables = (wanted: string): unknown => tree.options.find(({ name }) => name === wanted)?.['environment'];
  expect(variables('jq')).toEqual(['CHATELAINE_JQ']);
  expect(variables('header')).toEqual(['CHATELAINE_HEADER', 'CHATELAINE_NO_HEADER']);
  expect(variables('yes')).toEqual([]);
  expect(tree.exit_codes.map(({ exit }) => exit)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 129, 130, 143]);
});

test('a command is described in the form that programs read', async () => {
  const { commands } = await described();
  expect(commands.find(({ name }) => name === 'view pin')).toEqual({
    name: 'view pin',
    summary: 'Pin navigation views',
    arguments: [
      {
        name: 'fragment',
        kind: 'string',
        required: true,
        nonempty: true,
        many: true,
        placeholder: 'FRAGMENT',
        suggest: builtInViews,
        help: "What follows # in the view's URL, with or without #, or the complete URL",
      },
    ],
    options: [],
    formats: ['curl'],
    fields: ['fragment', 'is_pinned', 'status'],
    examples: ['chatelaine view pin narrow/is/starred', "chatelaine view pin inbox '#narrow/is/starred'"],
  });
});

test('a terminal shows a line for each command', async () => {
  const { stdout } = await runAlone('commands', { tty: true });
  expect(stdout.split('\n')).toHaveLength(commandTable.length + 1);
});

/** Columns that hold a key, a user, a name or an address, whatever the command. */
const identities =
  'license_code remote_user first_user account computer host target origin site url email profile channel topic_name name title fragment folder archive mac_address sender_full_name';

test.each(commandTable.map(({ name, load }) => [name, load] as const))(
  '%s cuts no name and no address on a terminal: such a column is whole, or goes',
  async (_name, load) => {
    const { show } = await load();
    const rules = (show?.columns ?? []).map((column) => (typeof column === 'string' ? { name: column } : column));
    const cut = rules.filter(({ name, keep, width }) => keep !== 'whole' && width !== Infinity && isIdentity(name));

    // A sentence takes the place of these columns for people.
    expect(show?.line || show?.text ? [] : cut.map(({ name }) => name)).toEqual([]);
  },
);

function isIdentity(name: string): boolean {
  return identities.split(' ').includes(name);
}
