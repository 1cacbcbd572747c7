import type { ChatApi } from '../api/chat/chat.ts';
import { Failure } from '../core/failure.ts';
import { snippetLevel } from '../schema/snippet.ts';
import { viewLevel } from '../schema/view.ts';
import { command, type NamelessCommand } from './command.ts';
import type { Services } from './context.ts';

// What the account has on the server, each in one request and as the server sends it.

export const channels = listing(
  ({ channels }) => channels(),
  'this server does not list channels',
  [
    'The channels that the account may enter, and those that it is in; stream_id is what every command takes beside the name.',
  ],
  'chatelaine channel list',
  {
    columns: ['stream_id', 'name', 'description', 'invite_only', 'first_message_id'],
    untruncated: ['stream_id', 'name'],
    none: 'the account sees no channel',
  },
);

export const views = listing(
  ({ views }) => views(),
  `this server does not list navigation views, which need level ${viewLevel}`,
  ['The views that the account has pinned, hidden or made; fragment is what view pin, hide and rename take.'],
  'chatelaine view list',
  { columns: ['fragment', 'name', 'is_pinned'], untruncated: ['fragment'], none: 'the account has no views' },
);

export const snippets = listing(
  ({ snippets }) => snippets(),
  `this server does not list saved snippets, which need level ${snippetLevel}`,
  ['The saved snippets of the account; snippet rm takes an id or a title.'],
  'chatelaine snippet list',
  { columns: ['id', 'title', 'content', 'date_created'], none: 'no snippets are saved' },
);

function listing(
  read: (chat: ChatApi) => Promise<readonly object[] | undefined>,
  missing: string,
  about: readonly string[],
  example: string,
  show: NamelessCommand['show'],
): NamelessCommand {
  return command({
    about,
    examples: [example],
    async run(_values: object, { chat }: Pick<Services, 'chat'>) {
      const rows = await read(chat());
      if (rows) return rows;
      throw new Failure('rejected', missing);
    },
    result: 'rows',
    ...(show && { show }),
  });
}
