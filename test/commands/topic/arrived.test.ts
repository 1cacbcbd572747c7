import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

/** The ids that the archives in a folder hold. */
function archived(root: string): number[] {
  return readdirSync(root).flatMap((name) =>
    readFileSync(join(root, name, 'parts.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { readonly ids: readonly number[] }).ids),
  );
}

test('what comes during a look of several pages, or while that is archived, is archived before the call', async () => {
  let [isArchived, has] = [false, false];
  const root = join(emptyHome(), 'purges');
  const server = await openChatServer({
    messages: topicOf('lunch', idsBetween(1, 5010)),
    meanwhile(messages, { parameters }) {
      // The first page of a look has the newest message; the second one begins below it.
      const isBelow = parameters['num_after'] === '0' && /^\d+$/.test(parameters['anchor'] ?? '');
      if (isBelow && !has) messages.push(...topicOf('lunch', [5020]));
      has ||= isBelow;
      const isFetched = parameters['anchor'] === '5020' && parameters['apply_markdown'] !== 'false';
      if (isFetched && messages.at(-1)?.id === 5020) messages.push(...topicOf('lunch', [5021]));
    },
    removed: () => (isArchived ||= archived(root).join().endsWith(',5020,5021')),
  });

  const { exitCode, stdout } = await server.run(`topic delete 5 lunch --confirm lunch --archive ${root} -o json`);

  expect({ exitCode, has, isArchived, left: server.messages.length }).toEqual({
    ...{ exitCode: 0, has: true, isArchived: true, left: 0 },
  });
  expect(JSON.parse(stdout)).toMatchObject([{ deleted: 5012 }]);
});

test('what comes while a call waits for a rate limit is archived before it is sent again', async () => {
  const root = join(emptyHome(), 'purges');
  const body = { result: 'error', code: 'RATE_LIMIT_HIT', msg: 'too many', 'retry-after': 6 };
  let isArchived = false;
  const server = await openChatServer({
    messages: topicOf('lunch', idsBetween(1, 3)),
    meanwhile: (messages, _request, calls) =>
      void (calls === 1 && messages.length === 3 && messages.push(...topicOf('lunch', [4]))),
    deleteReply: (call) => (call === 1 ? { status: 429, body, deletes: 0 } : undefined),
    removed: (messages) => (isArchived ||= messages.length > 0 && archived(root).includes(4)),
  });

  const { exitCode, stdout } = await server.run(`topic delete 5 lunch --confirm lunch --archive ${root} -o json`);

  expect({ exitCode, isArchived, rows: JSON.parse(stdout) as unknown }).toMatchObject({
    ...{ exitCode: 0, isArchived: true, rows: [{ deleted: 4, arrived: 1, status: 'deleted' }] },
  });
});

test.each([
  ['one that is held', 6, 'hold'],
  ['one more than --max-messages', 2, 'max-messages'],
])('%s that comes while what came is archived: nothing is deleted', async (_what, exit, option) => {
  const home = emptyHome();
  const keep = join(home, 'keep.csv');
  writeFileSync(keep, 'channel,ids\nkitchen,[5]\n');
  const root = join(home, 'purges');
  const isVerified = (): boolean =>
    existsSync(root) && readdirSync(root).some((name) => existsSync(join(root, name, 'purge.ndjson')));
  const server = await openChatServer({
    messages: [...topicOf('lunch', idsBetween(1, 3)), ...topicOf('soup', [4]), ...topicOf('dessert', [5])],
    channels: [{ stream_id: 5, name: 'kitchen' }],
    meanwhile(messages, { parameters }) {
      const isFetched = parameters['anchor'] === '4' && parameters['apply_markdown'] !== 'false';
      for (const message of messages)
        if ((message.id === 4 && isVerified()) || (message.id === 5 && isFetched)) message.subject = 'lunch';
    },
  });
  const limit = option === 'hold' ? `--hold ${keep}` : '--max-messages 4';

  const { exitCode } = await server.run(`topic delete 5 lunch --confirm lunch --archive ${root} ${limit}`);

  expect({ exitCode, left: server.messages.map(({ id }) => id) }).toEqual({ exitCode: exit, left: idsBetween(1, 5) });
});
