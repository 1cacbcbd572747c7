import { usage } from '../../core/failure.ts';
import { renameView } from '../../jobs/view/rename-view.ts';
import { readFragment, viewFields } from '../../schema/view.ts';
import { command } from '../command.ts';
import { refuseIgnored } from './change.ts';

export default command({
  name: 'view rename',
  summary: 'Rename a custom navigation view',
  about: [
    'Only custom views have a name; the built-in ones (inbox, narrow/is/starred, …) are refused. With --pin or --hide the view is ' +
      'pinned or hidden in the same request.',
  ],
  args: { fragment: viewFields.fragment, name: { ...viewFields.name, required: true } },
  options: {
    pin: { kind: 'boolean', help: 'Pin it too' },
    hide: { kind: 'boolean', help: 'Hide it too' },
  },
  examples: ["chatelaine view rename narrow/is/alerted 'My words' --pin"],

  async run({ fragment: text, name: typed, pin, hide }, { chat }) {
    if (pin && hide) throw usage('--pin and --hide exclude each other');
    const fragment = readFragment(text);
    const name = typed.trim();
    if (name === '') throw usage('the name is blank');
    const is_pinned = pin ? true : hide ? false : undefined;
    refuseIgnored((await renameView(chat(), fragment, { name, is_pinned })).ignored);
    return { fragment, name, ...(is_pinned === undefined ? {} : { is_pinned }) };
  },

  show: { columns: ['fragment', 'name', 'is_pinned'], line: ({ fragment, name }) => `${fragment} is named '${name}'` },
});
