import { settingsMatching } from '../../schema/setting-search.ts';
import { command } from '../command.ts';
import { describe, settingCell, settingColumns } from './row.ts';

export default command({
  about: [
    'These are the names and values that settings set takes. Words pick the settings whose name, values or help contain all of them. ' +
      'Nothing is sent: the API that chatelaine uses cannot read settings back.',
  ],
  args: {
    word: { kind: 'string', many: true, placeholder: 'WORD', help: 'Show only settings that contain this word' },
  },
  examples: [
    'chatelaine settings list',
    'chatelaine settings list theme',
    'chatelaine settings list --fields name,values',
  ],

  run: ({ word: words = [] }) =>
    Promise.resolve(settingsMatching(words).map(({ name, field }) => describe(name, field))),

  show: {
    columns: settingColumns,
    cell: settingCell,
    untruncated: ['name'],
    layout: { values: { priority: 1, minWidth: 20 }, help: { priority: 2, minWidth: 20 } },
    none: 'no settings match',
  },
});
