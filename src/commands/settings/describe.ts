import { usage } from '../../core/failure.ts';
import { fieldNamed } from '../../schema/field.ts';
import { removedSettings, settings } from '../../schema/settings.ts';
import { command } from '../command.ts';
import { describe, settingCell, settingColumns } from './row.ts';

export default command({
  name: 'settings describe',
  summary: 'Explain one setting',
  args: { name: { kind: 'string', required: true, placeholder: 'NAME', help: 'Name of the setting' } },
  examples: ['chatelaine settings describe color_scheme'],

  run({ name: typed }) {
    const name = typed.replaceAll('-', '_');
    const removed = Object.hasOwn(removedSettings, name) ? removedSettings[name] : undefined;
    if (removed !== undefined) return Promise.reject(usage(removed));
    return Promise.resolve(describe(name, fieldNamed(settings, name, typed)));
  },

  show: { columns: settingColumns, cell: settingCell },
});
