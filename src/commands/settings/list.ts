import type { Field } from '../../schema/field.ts';
import { settings } from '../../schema/settings.ts';
import { command } from '../command.ts';
import { describe, settingCell, settingColumns } from './row.ts';

export default command({
  name: 'settings list',
  summary: 'List every setting with its values',
  about: [
    'These are the names and values that settings set takes. Nothing is sent; the server does not tell its values.',
  ],
  examples: ['chatelaine settings list', 'chatelaine settings list --fields name,values'],

  run: () => Promise.resolve(Object.entries<Field>(settings).map(([name, field]) => describe(name, field))),

  show: { columns: settingColumns, cell: settingCell },
});
