import type { ChatApi, View, ViewChange } from '../../api/chat/chat.ts';
import { Failure, ifAnswered, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { collect } from '../../schema/field.ts';
import { readViewName } from '../../schema/view.ts';
import { readFragments, type FragmentSource } from './named-views.ts';

interface Renamed {
  readonly ignored: readonly string[];
  /** `pinned` and `hidden`: the view had the name already. */
  readonly status: 'renamed' | 'unchanged' | 'pinned' | 'hidden';
}

/**
 * The server refuses a name that any view has, this one included, so the list settles a refused or unconfirmed rename
 * (docs/apis.md, Navigation views).
 * @throws Failure unknown where no list shows it; rejected naming the view that has the name
 */
export async function renameView(chat: ChatApi, fragment: string, change: ViewChange): Promise<Renamed> {
  try {
    const { ignored } = await chat.updateView(fragment, change);
    return { ignored, status: 'renamed' };
  } catch (cause) {
    if (!(cause instanceof Failure) || (cause.kind !== 'unknown' && cause.kind !== 'rejected')) throw cause;
    const isRefused = cause.kind === 'rejected';
    const holder = (await ifAnswered(chat.views()))?.find(({ name }) => name === change.name);
    if (holder?.fragment === fragment) return pinOrHide(chat, holder, change, isRefused ? 'unchanged' : 'renamed');
    if (holder) throw cause.as('rejected', `the view '${holder.fragment}' has the name '${holder.name ?? ''}' already`);
    throw isRefused ? cause : cause.as('unknown', cause.message, { hint: lookFirst });
  }
}

const lookFirst = `Check the name of the view before you rename it again: ${commandLine('view list', [])}`;

/** The view has the name: what is left is to pin or hide it. */
async function pinOrHide(chat: ChatApi, view: View, change: ViewChange, status: Renamed['status']): Promise<Renamed> {
  const { is_pinned } = change;
  if (is_pinned === undefined || view.is_pinned === is_pinned) return { ignored: [], status };
  const { ignored } = await chat.updateView(view.fragment, { is_pinned });
  return { ignored, status: is_pinned ? 'pinned' : 'hidden' };
}

/** @throws Failure usage naming every bad pair: a view or a name twice among them, since a name belongs to one view */
export async function readRenamings(words: readonly string[], ...source: FragmentSource) {
  if (words.length % 2 > 0)
    throw usage(`FRAGMENT and NAME come in pairs; arguments: ${words.length}`, 'Quote a name that has blanks.');
  const texts = words.filter((_, index) => index % 2 === 0);
  const fragments = await readFragments(texts, ...source);
  const names = words.filter((_, index) => index % 2 > 0).map((text) => text.trim());
  return collect(fragments, (fragment, index) => {
    const name = readViewName(fragment, names[index] ?? '');
    if (fragments.indexOf(fragment) < index) throw usage(`fragment '${fragment}': given twice`);
    if (names.indexOf(name) < index) throw usage(`the name '${name}' is given to two views`);
    return { fragment, name };
  });
}
