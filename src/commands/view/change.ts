import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { builtInViews, viewFields } from '../../schema/view.ts';
import type { Accounts, Services } from '../context.ts';
import { readFragments } from './fragments.ts';

export interface PinRow {
  readonly fragment: string;
  readonly is_pinned: boolean;
}

export const fragmentArgs = { fragment: { ...viewFields.fragment, many: true } } as const;

/** Pins or hides views, one after another, each once. @throws Failure usage for a text that is no fragment */
export async function* setPinned(
  { chat, chatAccount }: Pick<Services, 'chat'> & Pick<Accounts, 'chatAccount'>,
  texts: readonly string[],
  change: Pick<PinRow, 'is_pinned'>,
): AsyncGenerator<PinRow> {
  const fragments = new Set(await readFragments(texts, { chatAccount }));
  const api = chat();
  yield* each(
    [...fragments],
    (fragment) => fragment,
    async (fragment) => {
      refuseIgnored((await pinned(api, fragment, change)).ignored);
      return { fragment, ...change };
    },
  );
}

/** What the server says of a view that is not there names none: this does, and says what a built-in one needs. */
async function pinned(
  chat: ChatApi,
  fragment: string,
  change: Pick<PinRow, 'is_pinned'>,
): ReturnType<ChatApi['updateView']> {
  try {
    return await chat.updateView(fragment, change);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
    const builtIn: readonly string[] = builtInViews;
    const hint = builtIn.includes(fragment)
      ? 'The server knows a built-in view once it was pinned or hidden in an app: do that once.'
      : 'chatelaine pins, hides and renames views that the account has: an app adds one.';
    throw cause.as(cause.kind, `the account has no view '${fragment}'`, { hint });
  }
}

/** @throws Failure rejected where the server did not take what was sent */
export function refuseIgnored(ignored: readonly string[]): void {
  if (ignored.length > 0) throw new Failure('rejected', `the server ignored: ${ignored.join(', ')}`);
}

export const pinShow = {
  columns: ['fragment', 'is_pinned'],
  line: ({ fragment, is_pinned }: PinRow) => `${fragment} is ${is_pinned ? 'pinned' : 'hidden'}`,
} as const;
