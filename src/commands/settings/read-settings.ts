import { Failure } from '../../core/failure.ts';
import { fitToLevel } from '../../jobs/settings/change-settings.ts';
import { differencesFrom, presentRow, presentSettings, toldNames } from '../../jobs/settings/present-settings.ts';
import { readSettings } from '../../jobs/settings/read-settings.ts';
import { fileArgument } from '../../schema/field.ts';
import { whole } from '../../output/columns.ts';
import { readSettingsFile } from '../../store/settings/settings-file.ts';
import { command } from '../command.ts';

const about =
  'The server is asked in one attempt, by a call outside the specification (POST /register), whose event queue is removed again. ' +
  'Passwords cannot be read.';

export default command({
  about: ['Without NAME every setting that the server tells. A setting that it does not tell has no value.', about],
  args: {
    name: { kind: 'string', many: true, placeholder: 'NAME', suggest: 'settings', help: 'Only these settings' },
  },
  examples: ['chatelaine settings get', 'chatelaine settings get color_scheme timezone -o json'],

  async rows({ name: names = [] }, { chat }) {
    const present = await presentSettings(chat(), names);
    return (names.length > 0 ? names : toldNames(present)).map((name) => presentRow(present, name));
  },

  show: { columns: [...whole('name'), 'value', 'value_name'], none: 'the server tells no setting' },
});

export const diff = command({
  about: [
    'Compares the settings of FILE, as settings set --from takes it, with the account: exit code 10 if one differs.',
    about,
  ],
  args: { file: fileArgument('FILE', 'YAML, a JSON object, or NAME=VALUE lines') },
  examples: ['chatelaine settings diff team.yaml'],

  async *rows({ file }, { chat, disk, secrets, note, conclude }) {
    const api = chat();
    const entries = await readSettingsFile(file, await disk.read(file));
    const values = readSettings({ words: [], entries, raw: [] }, (text) => secrets.hide(text));
    const wanted = values.filter(({ field }) => field.kind !== 'secret');
    if (wanted.length < values.length) note('passwords cannot be read, and are not compared');
    const fitting = await fitToLevel(api, wanted, note);
    const present = await presentSettings(
      api,
      fitting.map(({ name }) => name),
    );
    const rows = differencesFrom(present, fitting);
    yield* rows;
    const counted = `settings: ${fitting.length}, different: ${rows.length}`;
    conclude(counted);
    if (rows.length > 0) throw new Failure('differences', counted);
  },

  show: { columns: [...whole('name'), 'value', 'value_name', 'expected', 'expected_name'], none: 'no setting differs' },
});
