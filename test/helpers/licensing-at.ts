import { Answer } from '../../src/api/http/answer.ts';
import type { Call } from '../../src/api/http/call.ts';
import { licensingApi, type LicensingApi } from '../../src/api/licensing/licensing.ts';

/** The licensing API of a server on loopback, over a real connection, each call sent once. */
export function licensingAt(port: number, random = () => 0.5): LicensingApi {
  return licensingApi(async () => ({ send: (call) => sendOnce(port, call) }), random);
}

async function sendOnce(port: number, { method, path, query = [], json }: Call): Promise<Answer> {
  const pairs = query.map(([name, text]): [string, string] => [name, String(text)]);
  const url = `http://127.0.0.1:${port}${path.sent}${pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : ''}`;
  const body =
    json === undefined ? {} : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
  const response = await fetch(url, { method, redirect: 'manual', ...body });
  const http = { method, url, status: response.status };
  const bytes = Buffer.from(await response.arrayBuffer());
  return new Answer(http, Object.fromEntries(response.headers), bytes);
}
