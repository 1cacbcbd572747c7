import { each } from '../../jobs/work/each.ts';
import { namingIgnored, withNearViews } from '../../jobs/view/named-views.ts';
import { readRenamings, renameView } from '../../jobs/view/rename-view.ts';
import { flagField } from '../../schema/field.ts';
import { builtInViews } from '../../schema/view.ts';
import { command } from '../command.ts';
import { aboutBuiltIn } from './pin.ts';

export default command({
  about: [
    'To rename several views, give several pairs of FRAGMENT and NAME; - is replaced by the lines of standard input. A view that has ' +
      'the name already is unchanged. With --pin or --hide the views are pinned or hidden in the same requests.',
    aboutBuiltIn,
  ],
  args: {
    renaming: {
      kind: 'string',
      many: true,
      required: true,
      placeholder: 'FRAGMENT NAME',
      suggest: builtInViews,
      help: 'A view and its new name',
    },
  },
  options: { pin: flagField('Pin them too'), hide: flagField('Hide them too') },
  examples: ["chatelaine view rename narrow/is/alerted 'My words' --pin"],

  rules: [{ option: 'pin', excludes: ['hide'] }],

  dryRun: ['requests'],

  async *rows({ renaming, pin, hide }, { chat, chatAccount }) {
    const is_pinned = pin ? true : hide ? false : undefined;
    const api = chat();
    const renamings = await readRenamings(renaming, api, { chatAccount });
    const renameOne = async ({ fragment, name }: (typeof renamings)[number]) => {
      const orNear = async (cause: unknown): Promise<never> => {
        throw await withNearViews(cause, fragment, api);
      };
      const { ignored, status } = await renameView(api, fragment, { name, is_pinned }).catch(orNear);
      return { ignored, row: { fragment, name, ...(is_pinned === undefined ? {} : { is_pinned }), status } };
    };
    yield* namingIgnored(each(renamings, ({ fragment }) => fragment, renameOne));
  },

  show: {
    columns: ['fragment', 'name', 'is_pinned', 'status'],
    line: ({ fragment, name, status }) => `${fragment} is named '${name}' (${status})`,
  },
});
