import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { Answer } from '../http/answer.ts';
import type { Call, Send } from '../http/call.ts';
import { path } from '../http/request.ts';
import { isTrouble } from '../http/transport-error.ts';
import { accept } from './chat-answer.ts';

/** A file, or why it is not given: it is not there, this account may not read it, or something else. */
type Upload = { readonly content: AsyncIterable<Uint8Array> } | UploadRefusal;

interface UploadRefusal {
  readonly content?: undefined;
  readonly refused: string;
  readonly why: 'missing' | 'unreadable' | 'failed';
}

/** A file of a gigabyte takes some minutes. */
const fileTimeout = 600_000;

/** Fetches a file, to be read once and whole (docs/apis.md, Attached files). @throws Failure auth, unavailable */
export async function fetchUpload(
  send: Send,
  sendUnauthenticated: Send,
  upload: UploadPath,
  maxBytes: number,
): Promise<Upload> {
  // An address that was waited with for more than a minute is asked for again.
  for (let isLast = false; ; isLast = true) {
    const call = await orRefusal(() => temporaryCall(send, upload));
    if ('refused' in call) return call;
    const answer = await orRefusal(() => sendUnauthenticated({ ...call, maxBytes }));
    if ('refused' in answer) return answer;
    const problem = answer.status === 200 ? problemOf(answer, upload) : undefined;
    if (answer.status === 200 && problem === undefined) return { content: contentOf(answer) };
    await answer.spool?.close();
    if (problem !== undefined) return { refused: problem, why: 'failed' };
    if (isTrouble(answer.status))
      throw new Failure('unavailable', `the server answered ${answer.status} instead of the file ${upload}`, {
        hint: 'Run the same command again: it continues.',
        http: answer.http,
      });
    if (isLast || !expired.has(answer.status))
      return { refused: `the server answered ${answer.status}`, why: answer.status === 404 ? 'missing' : 'failed' };
  }
}

const expired: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** Why a 200 is not the file: a page of a proxy, an error, or a body whose end nothing but the connection marks. */
function problemOf({ headers, size, body }: Answer, upload: UploadPath): string | undefined {
  if (size === 0) return 'the server returned an empty file';
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    return 'the response has no length: it may be cut';
  const type = String(headers['content-type']);
  if (/^(text\/html|application\/xhtml)/i.test(type) && !/\.(x?html?|xht)$/i.test(upload))
    return 'the server returned an HTML page';
  const isError = /json/i.test(type) && !/\.json$/i.test(upload) && isObject(body) && body['result'] === 'error';
  return isError ? 'the server returned an error' : undefined;
}

async function orRefusal<T extends object>(work: () => Promise<T>): Promise<T | UploadRefusal> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof URIError) return { refused: 'its temporary address is not a URL', why: 'failed' };
    if (!(cause instanceof Failure)) throw cause;
    // The account may be kept from one file (403), and not from the others.
    const isForbidden = cause.kind === 'auth' && cause.details.http?.status === 403;
    if (!isForbidden && !['rejected', 'not_found', 'usage'].includes(cause.kind)) throw cause;
    const isMissing = cause.details.http?.status === 404;
    const others = isForbidden ? 'unreadable' : 'failed';
    const why = isMissing ? 'missing' : others;
    return { refused: cause.details.server?.msg ?? cause.message, why };
  }
}

/** @throws Failure rejected for an address outside the site: the file would come from somebody else */
async function temporaryCall(send: Send, upload: UploadPath): Promise<Call> {
  const segments = upload.split('/');
  const answer = await send({ method: 'GET', path: path`/api/v1/user_uploads/${{ segments }}`, repeat: 'safe' });
  accept(answer);
  const url = isObject(answer.body) ? answer.body['url'] : undefined;
  const base = answer.http.url.slice(0, answer.http.url.indexOf('/api/v1/user_uploads/'));
  const target = typeof url === 'string' && URL.canParse(url, `${base}/`) ? new URL(url, `${base}/`) : undefined;
  if (!target?.href.startsWith(`${base}/`))
    throw new Failure('rejected', 'its temporary address is not of this server', { http: answer.http });
  const places = target.href.slice(base.length + 1, target.href.length - target.search.length - target.hash.length);
  return {
    method: 'GET',
    path: path`/${{ segments: places.split('/').map(decodeURIComponent) }}`,
    query: [...target.searchParams],
    repeat: 'safe',
    timeout: fileTimeout,
  };
}

async function* contentOf(answer: Answer): AsyncGenerator<Uint8Array> {
  try {
    if (answer.spool) yield* answer.spool.read();
    else yield answer.bytes;
  } finally {
    await answer.spool?.close();
    answer.release();
  }
}
