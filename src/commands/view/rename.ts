import { each } from '../../jobs/work/each.ts';
import { namingIgnored, renameView } from '../../jobs/view/change-view.ts';
import { flagField, textField } from '../../schema/field.ts';
import { isUrl } from '../../schema/link.ts';
import { readFragment, readViewName, viewFields } from '../../schema/view.ts';
import { command } from '../command.ts';
import { aboutBuiltIn } from './pin.ts';

export default command({
  about: [
    'A view that has the name already is unchanged. With --pin or --hide the view is pinned or hidden in the same request.',
    aboutBuiltIn,
  ],
  args: { fragment: viewFields.fragment, new_name: { ...textField('NAME', 'The new name'), required: true } },
  options: { pin: flagField('Pin it too'), hide: flagField('Hide it too') },
  examples: ["chatelaine view rename narrow/is/alerted 'My words' --pin"],

  rules: [{ option: 'pin', excludes: ['hide'] }],

  dryRun: ['requests'],

  async *rows({ fragment: text, new_name, pin, hide }, { chat, chatAccount }) {
    const fragment = readFragment(text, isUrl(text) ? (await chatAccount()).site : undefined);
    const name = readViewName(fragment, new_name);
    const pinning = pin || hide ? { is_pinned: pin === true } : {};
    const rename = async () => {
      const { ignored, status } = await renameView(chat(), fragment, { name, ...pinning });
      return { ignored, row: { fragment, name, ...pinning, status } };
    };
    yield* namingIgnored(each([fragment], String, rename));
  },

  show: {
    columns: ['fragment', 'name', 'is_pinned', 'status'],
    line: ({ fragment, name, status }) => `${fragment} is named '${name}' (${status})`,
  },
});
