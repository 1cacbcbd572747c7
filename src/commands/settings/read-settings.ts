import { presentRow, presentSettings, toldNames } from '../../jobs/settings/present-settings.ts';
import { cellText, whole } from '../../output/columns.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Without NAME, shows every setting that the server reports; others have no value. Passwords cannot be read.',
    'Sends one request outside the specification (POST /register), whose event queue is removed afterwards.',
  ],
  args: {
    name: { kind: 'string', many: true, placeholder: 'NAME', suggest: 'settings', help: 'Only these settings' },
  },
  examples: ['chatelaine settings get', 'chatelaine settings get color_scheme timezone -o json'],

  async rows({ name: names = [] }, { chat }) {
    const present = await presentSettings(chat(), names);
    return (names.length > 0 ? names : toldNames(present)).map((name) => presentRow(present, name));
  },

  show: {
    columns: [...whole('name'), 'value', 'value_name'],
    none: 'the server reports no setting',
    line: (row) => (row.value === null ? `${row.name} is not reported` : settingLine(row)),
  },
});

/** `color_scheme = dark`. */
export function settingLine({
  name,
  value,
  value_name,
}: {
  name: string;
  value: unknown;
  value_name?: string;
}): string {
  return `${name} = ${value_name ?? cellText(value)}`;
}
