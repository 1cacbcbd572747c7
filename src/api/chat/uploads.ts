import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { Answer } from '../http/answer.ts';
import type { Call, Send } from '../http/call.ts';
import { path } from '../http/request.ts';
import { isTrouble } from '../http/transport-error.ts';
import { accept } from './chat-answer.ts';

type Upload =
  | { readonly content: AsyncIterable<Uint8Array>; readonly refused?: undefined }
  | { readonly content?: undefined; readonly refused: string };

/** Whether a reason for not giving a file says that it is not there: as a page, or instead of its temporary address. */
export function isMissingUpload(refused: string): boolean {
  return /\(404\)|answered 404$/.test(refused);
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
    if (answer.status === 200) return { content: contentOf(answer) };
    await answer.spool?.close();
    if (isTrouble(answer.status))
      throw new Failure('unavailable', `the server answered ${answer.status} instead of the file ${upload}`, {
        hint: 'Run the same command again: it continues.',
        http: answer.http,
      });
    if (isLast || !expired.has(answer.status)) return { refused: `the server answered ${answer.status}` };
  }
}

const expired: ReadonlySet<number> = new Set([401, 403, 404, 410]);

async function orRefusal<T extends object>(work: () => Promise<T>): Promise<T | { readonly refused: string }> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof URIError) return { refused: 'its temporary address is not a URL' };
    if (!(cause instanceof Failure)) throw cause;
    // The account may be kept from one file (403), and not from the others.
    const isForbidden = cause.kind === 'auth' && cause.details.http?.status === 403;
    if (!isForbidden && !['rejected', 'not_found', 'usage'].includes(cause.kind)) throw cause;
    const why = cause.details.server?.msg ?? cause.message;
    const isMissing = cause.details.http?.status === 404 && !isMissingUpload(why);
    return { refused: isMissing ? `${why} (404)` : why };
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
