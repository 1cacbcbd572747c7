import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { nearNames } from '../../schema/nearest.ts';

type Directory = Pick<ChatApi, 'users' | 'channels'>;

/** Messages of a narrow; where the server does not know a user or channel in it, the failure names those that come near. */
export async function* withNearNames<T>(
  pages: AsyncIterable<T>,
  narrow: readonly unknown[],
  chat: Directory,
): AsyncGenerator<T> {
  try {
    yield* pages;
  } catch (cause) {
    throw cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW'
      ? await explained(cause, narrow, chat)
      : cause;
  }
}

/** One more request, on the way of the error alone: of the names that were typed, those that nobody has. */
async function explained(cause: Failure, narrow: readonly unknown[], chat: Directory): Promise<Failure> {
  for (const term of narrow) {
    if (!isObject(term) || typeof term['operand'] !== 'string') continue;
    const { operator, operand } = term;
    if (operator === 'channel') {
      const near = await nearChannels(chat, operand);
      if (near) return cause.as(cause.kind, `no channel '${operand}'${near}`, { hint: undefined });
    } else if (['sender', 'dm', 'dm-including', 'mentions'].includes(String(operator))) {
      // Organizations may hide addresses: what is before the @ of one is compared with names.
      const [users = [], name] = [await chat.users(), operand.replace(/@.*$/, '')];
      const near = nearRows(users, 'full_name', name, ({ user_id }) => `--${String(operator)} ${String(user_id)}`);
      if (near) return cause.as(cause.kind, `no user '${operand}'${near}`, { hint: undefined });
    }
  }
  return cause;
}

/** `; general is id:1`; undefined where none is near. */
export async function nearChannels(chat: Pick<ChatApi, 'channels'>, wanted: string): Promise<string | undefined> {
  const channels = (await chat.channels()) ?? [];
  return nearRows(channels, 'name', wanted, ({ stream_id }) => `id:${String(stream_id)}`);
}

function nearRows(
  rows: readonly JsonObject[],
  field: string,
  wanted: string,
  typed: (row: JsonObject) => string,
): string | undefined {
  const names = nearNames(
    wanted,
    rows.map((row) => String(row[field])),
  );
  const near = rows.filter((row) => names.includes(String(row[field]))).slice(0, 3);
  return near.length === 0 ? undefined : near.map((row) => `; ${String(row[field])} is ${typed(row)}`).join('');
}
