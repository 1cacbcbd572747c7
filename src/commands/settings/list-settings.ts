import { settingNamed, settingsMatching } from '../../schema/setting-text.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import { namedValues, type Field } from '../../schema/field.ts';
import type { Column } from '../../output/presentation.ts';

const settingColumns: readonly Column<SettingDescription>[] = [
  ...whole('name'),
  'type',
  { name: 'values', keep: 2, width: 20, of: valueList },
  'level',
  { name: 'help', keep: 1, width: 20 },
];

export default command({
  about: [
    'Lists the names and values that settings set accepts. Words select the settings whose name, values or help contain all of them. ' +
      'level is the feature level of the chat server that a setting needs; chatelaine doctor shows yours. ' +
      'Nothing is sent; settings get shows the values that the account has.',
  ],
  args: {
    word: { kind: 'string', many: true, placeholder: 'WORD', help: 'Show only settings that contain this word' },
  },
  examples: [
    'chatelaine settings list',
    'chatelaine settings list color',
    'chatelaine settings list --fields name,values',
  ],

  rows({ word: words = [] }) {
    return Promise.resolve(settingsMatching(words).map(({ name, field }) => describe(name, field)));
  },

  show: {
    columns: settingColumns,
    none: 'no settings match',
  },
});

export const describeOne = command({
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', help: 'Name of the setting' },
  },
  examples: ['chatelaine settings describe color_scheme'],

  async run({ name: typed }) {
    const { name, field } = await Promise.resolve(settingNamed(typed));
    return describe(name, field);
  },

  show: { columns: settingColumns },
});

/** The values as a cell of a table: `1 automatic, 2 dark, 3 light`. */
function valueList({ type, values }: SettingDescription): string {
  if (type === 'boolean') return 'true, false';
  return values.map(({ value, name }) => (name === undefined ? String(value) : `${value} ${name}`)).join(', ');
}

type SettingDescription = ReturnType<typeof describe>;

/** `level`: the feature level that brought the setting; null if it is older than feature levels. */
function describe(name: string, field: Field) {
  return { name, type: field.kind, values: valuesOf(field), level: field.level ?? null, help: field.help };
}

/** The allowed values, with their names where they have some; empty where the type says enough. */
function valuesOf(field: Field): readonly { readonly value: string | number; readonly name?: string }[] {
  if (field.kind === 'string') return (field.choices ?? []).map((value) => ({ value }));
  return field.kind === 'integer' ? namedValues(field) : [];
}
