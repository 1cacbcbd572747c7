import type { ChatApi, View } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure, ifAnswered } from '../../core/failure.ts';
import { nameThatIsThere } from '../../core/tsv.ts';
import { collect } from '../../schema/field.ts';
import { isUrl } from '../../schema/link.ts';
import { nearNames } from '../../schema/nearest.ts';
import { percentDecoded } from '../../schema/url.ts';
import { builtInViews, readFragment } from '../../schema/view.ts';
import { nearRows } from '../topic/near.ts';

const builtIn: readonly string[] = builtInViews;

/** Pins or hides a view; a built-in one without a row on the server is made, and `made` called. */
export async function pinView(
  chat: Pick<ChatApi, 'views' | 'updateView' | 'createView'>,
  { fragment, is_pinned }: Pick<View, 'fragment' | 'is_pinned'>,
  made: () => void,
): Promise<readonly string[]> {
  const update = async () => (await chat.updateView(fragment, { is_pinned })).ignored;
  try {
    return await update();
  } catch (cause) {
    if (!builtIn.includes(fragment)) throw cause;
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
    // An app made it meanwhile, or an earlier attempt.
    if (cause instanceof Failure && cause.kind === 'rejected') return update();
    throw cause;
  }
}

/** The server does not name a view that is not there: this does, and near ones. */
export async function withNearViews(cause: unknown, fragment: string, chat: Pick<ChatApi, 'views'>): Promise<unknown> {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') return cause;
  const views = (await ifAnswered(chat.views())) ?? [];
  if (views.some((view) => view.fragment === fragment))
    return cause.as(cause.kind, `the server cannot find the view '${fragment}', although it lists it`, {
      hint: 'Run the command again.',
    });
  const named = nearRows(views, 'name', fragment, (view) => view.fragment);
  const known = views.map((view) => view.fragment);
  const like = nearNames(fragment, new Set([...known, ...builtIn]));
  const near = named ?? (like.length > 0 ? `; near: ${like.join(', ')}` : '');
  return cause.as(cause.kind, `the account has no view '${fragment}'${near}`, {
    hint:
      near === ''
        ? 'chatelaine view list shows the views of the account. Add others in the app.'
        : 'Write the fragment of the view that you mean. chatelaine view list shows those of the account.',
  });
}

/** Rows of changes, without the values that the server ignored. @throws Failure rejected naming these at the end */
export async function* namingIgnored<R extends object>(
  changes: AsyncIterable<{ readonly row: R; readonly ignored: readonly string[] }>,
): AsyncGenerator<Ignorable<R>> {
  const all = new Set<string>();
  for await (const { row, ignored } of changes) {
    for (const name of ignored) all.add(name);
    const nothing = Object.fromEntries(ignored.map((name) => [name, null]));
    yield ignored.length === 0 ? row : { ...row, ...nothing, status: 'ignored' };
  }
  if (all.size > 0) throw new Failure('rejected', `the server ignored: ${[...all].join(', ')}`);
}

type Ignorable<R> = { readonly [K in keyof R]: R[K] | null } & { readonly status?: string };

/** The views, and the site of the account that is signed in. */
export type FragmentSource = [Pick<ChatApi, 'views'>, { chatAccount(): Promise<{ readonly site: string }> }];

/**
 * Reads the account only where a URL has to be of its site, and the views only where a text may be the name of one, or
 * is another text when it is decoded.
 * @throws Failure usage naming all that is no fragment
 */
export async function readFragments(texts: readonly string[], ...[chat, accounts]: FragmentSource) {
  const site = texts.some(isUrl) ? (await accounts.chatAccount()).site : undefined;
  const isName = (text: string): boolean => /^[^#/]*[\p{L}\p{N}][^#/]*$/u.test(text) && !builtIn.includes(text.trim());
  const isOpen = (text: string): boolean => isName(text) || percentDecoded(text) !== text;
  const views = (texts.some(isOpen) ? await chat.views() : undefined) ?? [];
  const listed = views.map(({ fragment }) => fragment);
  const viewNamed = (text: string) => views.find(({ name }) => name === text);
  return collect(texts, (text) => {
    const named = nameThatIsThere(text, (name) => viewNamed(name) !== undefined);
    return viewNamed(named)?.fragment ?? readFragment(text, site, listed);
  });
}
