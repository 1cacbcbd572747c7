import type { ChatApi, View, ViewChange } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure, ifAnswered } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { nearNames } from '../../schema/nearest.ts';
import { builtInViews } from '../../schema/view.ts';
import { nearRows } from '../topic/find-channel.ts';

const builtIn: readonly string[] = builtInViews;

/** Pins or hides a view. A built-in view that the server has not stored is created, and `made` is called. */
export async function pinView(
  chat: ChatApi,
  { fragment, is_pinned }: Pick<View, 'fragment' | 'is_pinned'>,
  made: () => void,
): Promise<readonly string[]> {
  const update = async () => (await chat.updateView(fragment, { is_pinned })).ignored;
  try {
    return await update();
  } catch (cause) {
    if (!builtIn.includes(fragment)) throw await withNearViews(cause, fragment, chat);
    const isLacking =
      cause instanceof Planned
        ? (await chat.views())?.every((view) => view.fragment !== fragment)
        : cause instanceof Failure && cause.kind === 'not_found';
    if (!isLacking) throw cause;
  }
  try {
    const { ignored } = await chat.createView({ fragment, is_pinned });
    made();
    return ignored;
  } catch (cause) {
    // An app created the view meanwhile, or an earlier attempt did.
    if (cause instanceof Failure && cause.kind === 'rejected') return update();
    throw cause;
  }
}

/**
 * The server refuses a name that any view has, this one included, so the list settles a refused or unconfirmed rename
 * (docs/apis.md, Navigation views). `ignored`: what the server did not take.
 * @throws Failure unknown where no list shows it; rejected naming the view that has the name
 */
export async function renameView(chat: ChatApi, fragment: string, change: ViewChange) {
  try {
    const { ignored } = await chat.updateView(fragment, change);
    return { ignored, status: 'renamed' };
  } catch (cause) {
    if (!(cause instanceof Failure) || (cause.kind !== 'unknown' && cause.kind !== 'rejected'))
      throw await withNearViews(cause, fragment, chat);
    const holder = (await ifAnswered(chat.views()))?.find(({ name }) => name === change.name);
    const isOwn = holder?.fragment === fragment;
    const isDone = isOwn && (change.is_pinned ?? holder.is_pinned) === holder.is_pinned;
    if (isDone) return { ignored: [], status: cause.kind === 'rejected' ? 'unchanged' : 'renamed' };
    const alone = `Without the name: ${commandLine(`view ${change.is_pinned ? 'pin' : 'hide'}`, [fragment])}`;
    if (holder && (!isOwn || cause.kind === 'rejected'))
      throw cause.as('rejected', `the view '${holder.fragment}' has the name '${holder.name ?? ''}' already`, {
        ...(isOwn && { hint: alone }),
      });
    const hint = `Check the name of the view before you rename it again: ${commandLine('view list', [])}`;
    throw cause.kind === 'rejected' ? cause : cause.as('unknown', cause.message, { hint });
  }
}

/** Adds to the failure the name of the missing view, which the server does not send, and similar ones. */
async function withNearViews(cause: unknown, fragment: string, chat: ChatApi): Promise<unknown> {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') return cause;
  const views = (await ifAnswered(chat.views())) ?? [];
  const named = nearRows(views, 'name', fragment, (view) => view.fragment);
  const like = nearNames(fragment, new Set([...views.map((view) => view.fragment), ...builtIn]));
  const near = named || (like.length > 0 ? `; near: ${like.join(', ')}` : '');
  return cause.as(cause.kind, `the account has no view '${fragment}'${near}`, {
    hint:
      near === ''
        ? 'chatelaine view list shows the views of the account. Add others in the app.'
        : 'Write the fragment of the view that you mean. To see those of the account: chatelaine view list',
  });
}

/** Rows of changes, without the values that the server ignored. @throws Failure rejected naming these at the end */
export async function* namingIgnored<R extends object>(
  changes: AsyncIterable<{ readonly row: R; readonly ignored: readonly string[] }>,
): AsyncGenerator<{ readonly [K in keyof R]: R[K] | null } & { readonly status?: string }> {
  const all = new Set<string>();
  for await (const { row, ignored } of changes) {
    for (const name of ignored) all.add(name);
    const nothing = Object.fromEntries(ignored.map((name) => [name, null]));
    yield ignored.length === 0 ? row : { ...row, ...nothing, status: 'ignored' };
  }
  if (all.size > 0) throw new Failure('rejected', `the server ignored: ${[...all].join(', ')}`);
}
