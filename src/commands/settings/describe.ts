import { settingNamed } from '../../schema/setting-text.ts';
import { command } from '../command.ts';
import { describe, settingCell, settingColumns } from './list-settings.ts';

export default command({
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'settings', help: 'Name of the setting' },
  },
  examples: ['chatelaine settings describe color_scheme'],

  async run({ name: typed }) {
    const { name, field } = await Promise.resolve(settingNamed(typed));
    return describe(name, field);
  },

  show: { columns: settingColumns, cell: settingCell },
});
