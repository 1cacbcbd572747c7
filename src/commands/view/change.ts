import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { collect } from '../../schema/field.ts';
import { readFragment, viewFields } from '../../schema/view.ts';

export interface PinRow {
  readonly fragment: string;
  readonly is_pinned: boolean;
}

export const fragmentArgs = { fragment: { ...viewFields.fragment, many: true } } as const;

/** Pins or hides views, one after another. @throws Failure usage for a fragment that is none */
export async function* setPinned(chat: ChatApi, texts: readonly string[], is_pinned: boolean): AsyncGenerator<PinRow> {
  yield* each(
    collect(texts, readFragment),
    (fragment) => fragment,
    async (fragment) => {
      refuseIgnored((await chat.updateView(fragment, { is_pinned })).ignored);
      return { fragment, is_pinned };
    },
  );
}

/** @throws Failure rejected where the server did not take what was sent */
export function refuseIgnored(ignored: readonly string[]): void {
  if (ignored.length > 0) throw new Failure('rejected', `the server ignored: ${ignored.join(', ')}`);
}

export const pinShow = {
  columns: ['fragment', 'is_pinned'],
  line: ({ fragment, is_pinned }: PinRow) => `${fragment} is ${is_pinned ? 'pinned' : 'hidden'}`,
} as const;
