import { stat } from 'node:fs/promises';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../../src/api/http/answer.ts';
import { exchange } from '../../src/api/http/transport.ts';
import { realAlarm } from '../../src/cli/clock.ts';
import { runAlone } from '../helpers/run.ts';

/** A request as it came, and the connection that it came on, counted from 1. */
interface Heard {
  readonly method: string;
  readonly connection: number;
}

interface Speaker {
  readonly base: string;
  readonly heard: readonly Heard[];
}

/** A server that says on each connection what a test wants, unasked too; ends with the test. */
async function speak(onRequest: (socket: Socket, heard: readonly Heard[]) => void): Promise<Speaker> {
  const sockets: Socket[] = [];
  const heard: Heard[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.setNoDelay().on('error', () => undefined));
    const connection = sockets.length;
    socket.on('data', (chunk) => {
      heard.push({ method: chunk.toString().split(' ')[0] ?? '', connection });
      onRequest(socket, heard);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

function answer(status: number, body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

const license = (license_code: string): object => ({
  license_code,
  remote_user: 'ada',
  app_code: 7,
  size_allowance: 4,
});
const stale = answer(201, license('KEY-OF-ANOTHER-USER'));

test.each([
  ['in the same packet', (socket: Socket) => socket.write(answer(200, []) + stale)],
  [
    'in a packet of its own',
    (socket: Socket) => {
      socket.write(answer(200, []));
      socket.write(stale);
    },
  ],
  ['a turn later', (socket: Socket) => socket.write(answer(200, []), () => socket.write(stale))],
])('the POST of a license is not given a second answer to the GET before it that came %s', async (_what, sendTwo) => {
  const { base, heard } = await speak((socket, { length }) => {
    if (length === 1) sendTwo(socket);
    else if (heard.at(-1)?.method === 'POST') socket.write(answer(201, license('KEY-OF-ADA')));
    else socket.write(answer(200, heard.some(({ method }) => method === 'POST') ? [license('KEY-OF-ADA')] : []));
  });

  const { exitCode, stdout } = await runAlone('license create --remote-user ada --size-allowance 4 -o json', {
    env: { CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7' },
  });

  expect({ exitCode, printed: JSON.parse(stdout) as unknown }).toEqual({ exitCode: 0, printed: license('KEY-OF-ADA') });
  // The first connection is not used again, and no later one is used after an answer that nobody asked for.
  expect(heard.filter(({ connection }) => connection === 1)).toHaveLength(1);
  expect(heard.map(({ method }) => method).slice(0, 4)).toEqual(['GET', 'GET', 'GET', 'POST']);
});

test('an answer that came before the request was written is not its answer, even if nobody has read it yet', async () => {
  let answered = 0;
  let connection = new Socket();
  const { base, heard } = await speak((socket) => {
    answered += 1;
    connection = socket;
    socket.write(answer(201, license(`KEY-${answered}`)));
  });
  const ask = poster(`${base}/v1/license/`);

  expect((await ask()).body).toEqual(license('KEY-1'));
  // What has read or written a file goes on before the event loop looks at sockets again: the bytes are in ours,
  // unseen.
  await stat('.');
  connection.write(stale);
  const second = await ask();

  expect(second.body).toEqual(license('KEY-2'));
  expect(heard.map(({ connection: number }) => number)).toEqual([1, 2]);
});

function poster(url: string): () => Promise<Answer> {
  const surroundings = { env: {}, caFile: undefined };
  const { signal } = new AbortController();
  const connection = { dispatcher: undefined, surroundings, alarm: realAlarm, signal, bodyLimit: 10_000 };
  const request = { method: 'POST', url, shown: url, headers: {}, body: '{}', shownBody: '{}' } as const;
  return () => exchange(connection, request, url, {}, 170_000);
}
