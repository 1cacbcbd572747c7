import { namingIgnored, pinView } from '../../jobs/view/change-view.ts';
import { each } from '../../jobs/work/each.ts';
import { collect } from '../../schema/field.ts';
import { isUrl } from '../../schema/link.ts';
import { builtInViews, readFragment, viewFields } from '../../schema/view.ts';
import { command, type NamelessCommand } from '../command.ts';

export const aboutBuiltIn =
  `Built-in views are ${builtInViews.join(', ')}; you can pin and hide them, but not rename them; one that the server has not stored yet is created. ` +
  'A fragment may be pasted from the address bar: #inbox, narrow/is/starred, or the complete URL.';

export default pinning({ is_pinned: true }, [
  'chatelaine view pin narrow/is/starred',
  "chatelaine view pin inbox '#narrow/is/starred'",
]);

export const hide = pinning({ is_pinned: false }, [
  'chatelaine view hide narrow/is/starred',
  "chatelaine view hide inbox '#narrow/is/starred'",
]);

/** The command that pins or hides views, one after another, each once. */
function pinning({ is_pinned }: { readonly is_pinned: boolean }, examples: readonly string[]): NamelessCommand {
  return command({
    about: [aboutBuiltIn],
    args: { fragment: { ...viewFields.fragment, many: true } },
    examples,
    dryRun: ['requests'],

    async *rows({ fragment: texts }, { chat, chatAccount, note }) {
      const site = texts.some(isUrl) ? (await chatAccount()).site : undefined;
      const fragments = new Set(collect(texts, (text) => readFragment(text, site)));
      const pinOne = async (fragment: string) => {
        const made = () => note(`the server had not stored the view '${fragment}' yet: it was created`);
        return { ignored: await pinView(chat(), { fragment, is_pinned }, made), row: { fragment, is_pinned } };
      };
      yield* namingIgnored(each([...fragments], String, pinOne));
    },

    fields: ['status'],

    show: {
      columns: ['fragment', 'is_pinned'],
      others: 'known',
      line: ({ fragment, is_pinned }) =>
        `${fragment} ${is_pinned === null ? 'was not changed' : `is ${is_pinned ? 'pinned' : 'hidden'}`}`,
    },
  });
}
