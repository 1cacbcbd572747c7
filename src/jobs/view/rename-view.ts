import type { ChatApi, View, ViewChange } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';

/** How often a rename that the list of views does not show is sent again. */
const mostAttempts = 3;

interface Renamed {
  readonly ignored: readonly string[];
  /** `pinned` and `hidden`: the view had the name already. */
  readonly status: 'renamed' | 'unchanged' | 'pinned' | 'hidden';
}

/**
 * The server refuses a name that any view has, this one included, so the list settles a refused or unconfirmed rename
 * (docs/apis.md, Navigation views). @throws Failure unknown where there is no list to settle it by
 */
export async function renameView(chat: ChatApi, fragment: string, change: ViewChange): Promise<Renamed> {
  let unconfirmed: Failure | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const { ignored } = await chat.updateView(fragment, change);
      return { ignored, status: 'renamed' };
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      if (cause.kind === 'unknown') unconfirmed = cause;
      if (cause !== unconfirmed && cause.kind !== 'rejected') throw cause;
      const view = await find(chat, fragment, unconfirmed ?? cause);
      if (unconfirmed && !view)
        throw unconfirmed.as('unknown', unconfirmed.message, {
          hint: 'Look at the name of the view before you rename it again.',
        });
      if (view && view.name === change.name) return settled(chat, view, change, unconfirmed ? 'renamed' : 'unchanged');
      if (cause !== unconfirmed || attempts === mostAttempts) throw cause;
    }
  }
}

/** The view has the name: what is left is to pin or hide it. */
async function settled(chat: ChatApi, view: View, change: ViewChange, status: Renamed['status']): Promise<Renamed> {
  const { is_pinned } = change;
  if (is_pinned === undefined || view.is_pinned === is_pinned) return { ignored: [], status };
  const { ignored } = await chat.updateView(view.fragment, { is_pinned });
  return { ignored, status: is_pinned ? 'pinned' : 'hidden' };
}

/** Undefined where there is no list, or not this view in it. @throws `reason` where the list is not answered */
async function find(chat: ChatApi, fragment: string, reason: Failure): Promise<View | undefined> {
  try {
    return (await chat.views())?.find((view) => view.fragment === fragment);
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'unavailable') throw reason;
    throw cause;
  }
}
