import { expect, test } from 'vitest';
import { openQueuedServer } from '../helpers/queued-server.ts';
import { realTime } from '../helpers/clock.ts';
import { emptyHome, runAlone } from '../helpers/run.ts';

/** Real time, over real connections: what the simulation does in its own. */
const users = ['ada', 'ben', 'cyd', 'dan', 'eve', 'fay'];
const roster = `remote_user,size_allowance\n${users.map((user) => `${user},4\n`).join('')}`;

test.each([
  ['apply', 80, 110],
  ['apply, and no POST is answered in time', 80, 40],
  ['ensure, all at once', 80, 110],
])(
  '%s: each user of a server that needs %i ms a POST behind a gateway of %i ms gets one license',
  async (what, cost, limit) => {
    const server = await openQueuedServer(cost, limit);
    const env = { CHATELAINE_BASE_URL: server.url, CHATELAINE_API_KEY: 'key-of-ada', CHATELAINE_APP_CODE: '7' };
    const options = { env, home: emptyHome(), clock: realTime };

    const lines = what.startsWith('apply')
      ? ['license apply - --input-format csv -y --settle 400ms -o ndjson']
      : users.map((user) => `license ensure --remote-user ${user} --size-allowance 4 --settle 400ms`);
    const ran = await Promise.all(lines.map((line) => runAlone(line, { ...options, stdin: roster })));
    await server.isEmpty();

    expect(ran.map(({ exitCode }) => exitCode)).toEqual(lines.map(() => 0));
    expect({ users: [...server.users].sort(), posts: server.posts() }).toEqual({ users, posts: users.length });
  },
);
