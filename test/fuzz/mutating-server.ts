import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';
import { fixedClock } from '../helpers/clock.ts';
import { mutate, type Mutation, type Wire } from './mutation.ts';

/** A sandbox behind a server that changes each of its answers. */
export interface MutatingServer {
  /** The environment that points at it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const clock = fixedClock(Date.parse('2026-03-16T09:00:00Z'));

/** @param from the first answer that is changed; those before are whole */
export async function openMutatingServer(changes: readonly Mutation[], from: number): Promise<MutatingServer> {
  const sandbox = await startSandbox({ clock, rateLimit: { perMinute: 10_000 } });
  let answered = 0;
  const answer = async (incoming: IncomingMessage): Promise<void> => {
    const wire = await forward(sandbox.port, incoming);
    const authorization = incoming.headers.authorization ?? '';
    const changed = answered >= from ? changes.reduce((one, change) => mutate(one, change, authorization), wire) : wire;
    answered += 1;
    write(incoming.socket, changed);
  };
  const server = createServer((incoming) => {
    void answer(incoming).catch(() => {
      // Closing the sandbox ends a request whose client has gone.
      incoming.socket.destroy();
    });
  });
  server.on('connection', (socket) => socket.on('error', () => undefined));
  const port = await listen(server);
  return {
    env: environmentOf(sandbox, `http://127.0.0.1:${port}`),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sandbox.close();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** The sandbox's own answer to the same request. */
function forward(port: number, incoming: IncomingMessage): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const { method, url, headers } = incoming;
    const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const own = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'];
        const kept = Object.entries(answer.headers).filter(([name]) => !own.includes(name));
        resolve({
          statusLine: `HTTP/1.1 ${answer.statusCode ?? 0} OK`,
          headers: kept.map(([name, value]) => [name, String(value)] as const),
          body: Buffer.concat(chunks),
          end: 'close',
        });
      });
    });
    outgoing.on('error', reject);
    incoming.pipe(outgoing);
  });
}

function write(socket: Socket, { statusLine, headers, body, end }: Wire): void {
  const known = headers.some(([name]) => name === 'content-length' || name === 'transfer-encoding');
  const framing = known ? headers : [...headers, ['content-length', String(body.length)] as const];
  const lines = [statusLine, 'connection: close', ...framing.map(([name, value]) => `${name}: ${value}`), '', ''];
  const bytes = Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]);
  if (end === 'hang') return void socket.write(bytes.subarray(0, bytes.length >> 1));
  if (end === 'reset') return void socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.resetAndDestroy());
  socket.end(bytes);
}

/** The environment that points at a sandbox, by the origin under which it is reached. */
export function environmentOf({ licensing, chat }: Sandbox, origin: string): Record<string, string> {
  const [app] = licensing.apps;
  const [account] = chat.accounts;
  if (!account) throw new Error('the sandbox has no sample data');
  return {
    CHATELAINE_BASE_URL: origin,
    CHATELAINE_API_KEY: app.api_key,
    CHATELAINE_APP_CODE: String(app.app_code),
    CHATELAINE_CHAT_SITE: origin,
    CHATELAINE_CHAT_EMAIL: account.email,
    CHATELAINE_CHAT_API_KEY: account.api_key,
  };
}
