import type { ChatApi, View, ViewChange } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';

/** How often a rename that the list of views does not show is sent again. */
const mostAttempts = 3;

/**
 * Renames a view. The same rename twice is an error on the server, so one in doubt is settled by the list of views
 * (contract, section 5; facts page, 1.5).
 * @throws Failure unknown where there is no list to settle it by
 */
export async function renameView(
  chat: ChatApi,
  fragment: string,
  change: ViewChange,
): Promise<{ readonly ignored: readonly string[] }> {
  let doubt: Failure | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await chat.updateView(fragment, change);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      if (cause.kind === 'unknown') doubt = cause;
      // After a doubt "already exists" may speak of the name that the first attempt has set.
      if (!doubt || (cause !== doubt && cause.kind !== 'rejected')) throw cause;
      if (isChanged(await lookUp(chat, fragment, doubt), change)) return { ignored: [] };
      if (cause !== doubt || attempts === mostAttempts) throw cause;
    }
  }
}

function isChanged(view: View, { name, is_pinned }: ViewChange): boolean {
  return view.name === name && (is_pinned === undefined || view.is_pinned === is_pinned);
}

async function lookUp(chat: ChatApi, fragment: string, doubt: Failure): Promise<View> {
  const view = (await listed(chat, doubt))?.find((candidate) => candidate.fragment === fragment);
  if (view) return view;
  throw new Failure('unknown', doubt.message, {
    ...doubt.details,
    hint: 'Look at the name of the view before you rename it again.',
    cause: doubt,
  });
}

async function listed(chat: ChatApi, doubt: Failure): Promise<readonly View[] | undefined> {
  try {
    return await chat.views();
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'unavailable') throw doubt;
    throw cause;
  }
}
