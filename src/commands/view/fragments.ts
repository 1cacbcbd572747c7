import { collect } from '../../schema/field.ts';
import { isUrl } from '../../schema/link.ts';
import { builtInViews, readFragment } from '../../schema/view.ts';
import type { Accounts } from '../context.ts';

/**
 * Fragments as they were pasted, in their order. The account is read only where a whole URL has to be of its site.
 * @throws Failure usage naming every text that is no fragment
 */
export async function readFragments(
  texts: readonly string[],
  accounts: Pick<Accounts, 'chatAccount'>,
): Promise<readonly string[]> {
  const site = texts.some(isUrl) ? (await accounts.chatAccount()).site : undefined;
  return collect(texts, (text) => readFragment(text, site));
}

/** What the help of each command on views says. */
export const aboutBuiltIn =
  `Built-in views are ${builtInViews.join(', ')}; they can be pinned and hidden, not renamed. ` +
  'A fragment may be pasted from the address bar: #inbox, narrow/is/starred, or the whole URL.';
