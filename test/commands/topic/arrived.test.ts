import { readdirSync, readFileSync } from 'node:fs';
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

test('a message that comes during a look of several pages is archived before the call that deletes it', async () => {
  let [isArchived, has] = [false, false];
  const root = join(emptyHome(), 'purges');
  const server = await openChatServer({
    messages: topicOf('lunch', idsBetween(1, 5200)),
    meanwhile(messages, { parameters }) {
      // The first page of a look has the newest message; the second one begins below it.
      const isBelow = parameters['num_after'] === '0' && /^\d+$/.test(parameters['anchor'] ?? '');
      if (isBelow && !has) messages.push(...topicOf('lunch', [5300]));
      has ||= isBelow;
    },
    removed: () => (isArchived ||= archived(root).includes(5300)),
  });

  const { exitCode } = await server.run(`topic delete 5 lunch --confirm lunch --archive ${root} -o json`);

  expect({ exitCode, has, isArchived, left: server.messages.length }).toEqual({
    ...{ exitCode: 0, has: true, isArchived: true, left: 0 },
  });
});
