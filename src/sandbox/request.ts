import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { percentDecoded } from '../schema/url.ts';

/** One request as both services read it. */
export interface SandboxRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** Percent-decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The form in the body; empty where the body is something else. */
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly mediaType: string;
  readonly body: Buffer;
  /** Scheme, host and port by which the caller reached the services: the addresses in answers begin with it. */
  readonly origin: string;
}

/** Largest body that the proxy of the chat service lets through. */
const largestBody = 25 * 1024 * 1024;

/** The whole request; undefined where its body is larger than the proxy accepts. Rejects when the client goes away. */
export async function readRequest(incoming: IncomingMessage): Promise<SandboxRequest | undefined> {
  const body = await readBody(incoming);
  if (!body) return undefined;
  const target = incoming.url ?? '/';
  const at = target.indexOf('?');
  const contentType = incoming.headers['content-type'] ?? '';
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const isGet = incoming.method === 'GET' || incoming.method === 'HEAD';
  return {
    method: incoming.method ?? 'GET',
    target,
    path: percentDecoded(at < 0 ? target : target.slice(0, at)),
    query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)),
    // The body of a GET is not read (docs/apis.md, Parameters).
    form: await readForm(isGet ? '' : mediaType, contentType, body),
    headers: incoming.headers,
    mediaType,
    body,
    origin: `http://${incoming.headers.host ?? ''}`,
  };
}

/** Reads by events: iterating over the stream costs a small request as much as answering it. */
function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
    });
    incoming.on('end', () => resolve(size <= largestBody ? Buffer.concat(chunks) : undefined));
    incoming.on('error', reject);
  });
}

async function readForm(mediaType: string, contentType: string, body: Buffer): Promise<URLSearchParams> {
  if (mediaType !== 'multipart/form-data')
    return new URLSearchParams(mediaType === 'application/x-www-form-urlencoded' ? body.toString('utf8') : '');
  const { readMultipart } = await import('./multipart.ts');
  return readMultipart(contentType, body);
}
