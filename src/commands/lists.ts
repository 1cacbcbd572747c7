import type { ChatApi } from '../api/chat/chat.ts';
import { lacking } from '../api/chat/chat-answer.ts';
import { snippetLevel } from '../schema/snippet.ts';
import { viewLevel } from '../schema/view.ts';
import { whole } from '../output/columns.ts';
import { command, type NamelessCommand } from './command.ts';

export const channels = listing(({ channels }) => channels(), 'channel list', ['channels', 0], {
  about: 'Lists the channels that the account is in or may join. Commands accept the name or the stream_id.',
  columns: [...whole('stream_id', 'name'), 'description', 'invite_only', 'first_message_id'],
  none: 'the account sees no channel',
});

export const views = listing(({ views }) => views(), 'view list', ['navigation views', viewLevel], {
  about:
    'Lists the views that the account has pinned, hidden or created. view pin, hide and rename accept the fragment.',
  columns: [...whole('fragment', 'name'), { name: 'is_pinned', keep: 1 }],
  none: 'the account has no views',
});

export const snippets = listing(({ snippets }) => snippets(), 'snippet list', ['saved snippets', snippetLevel], {
  about: 'Lists the saved snippets of the account. snippet rm accepts an id or a title.',
  columns: ['id', ...whole('title'), 'content', { name: 'date_created', as: 'seconds' }],
  none: 'no snippets are saved',
});

function listing(
  read: (chat: ChatApi) => Promise<readonly object[] | undefined>,
  name: string,
  [what, needed]: readonly [what: string, level: number],
  { about, ...show }: { readonly about: string } & NonNullable<NamelessCommand['show']>,
): NamelessCommand {
  return command({
    about: [about],
    examples: [`chatelaine ${name}`],
    async rows(_values, { chat }) {
      const api = chat();
      const rows = await read(api);
      if (rows) return rows;
      throw lacking(what, needed, await api.level());
    },
    show,
  });
}
