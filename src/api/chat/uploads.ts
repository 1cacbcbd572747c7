import { Failure } from '../../core/failure.ts';
import { isObject, jsonIn } from '../../core/json.ts';
import type { UploadPath } from '../../schema/upload.ts';
import { serverWords, wordsOf, type Answer } from '../http/answer.ts';
import type { Call, Download, Send } from '../http/call.ts';
import { path } from '../http/request.ts';
import { isTrouble } from '../http/transport-error.ts';
import { accept } from './chat-answer.ts';

/** Why a file is not given: it is not there, this account may not read it, or something else. */
interface UploadRefusal {
  readonly refused: string;
  readonly why: 'missing' | 'unreadable' | 'failed';
}

/** A file of a gigabyte takes some minutes. */
const fileTimeout = 600_000;

/** Writes the content of a file; called again, from the beginning, where the first attempt breaks off. */
export type Keep<R> = (content: AsyncIterable<Uint8Array>) => Promise<R>;

/** Fetches a file, which `keep` writes (docs/apis.md, Attached files). @throws Failure auth, unavailable; as `keep` */
export async function fetchUpload<R>(
  send: Send,
  sendUnauthenticated: Send,
  upload: UploadPath,
  maxBytes: number,
  keep: Keep<R>,
): Promise<R | UploadRefusal> {
  const kept: R[] = [];
  const take: Download['take'] = async (headers, body) => {
    kept.push(await keep(contentIn(headers, body, upload)));
  };
  // An address older than a minute is requested again.
  for (let isLast = false; ; isLast = true) {
    const call = await orRefusal(() => temporaryCall(send, upload));
    if ('refused' in call) return call;
    const answer = await orRefusal(() => sendUnauthenticated({ ...call, download: { maxBytes, take } }));
    if ('refused' in answer) return answer;
    const [done] = kept;
    if (done !== undefined) return done;
    if (isTrouble(answer.status) && answer.status !== 500)
      throw new Failure('unavailable', `the server answered ${answer.status} instead of the file ${upload}`, {
        hint: 'Run the same command again: it continues.',
        http: answer.http,
      });
    const failed = { refused: `the server answered ${answer.status}`, why: 'failed' } as const;
    if (isLast || !expired.has(answer.status)) return (answer.status === 404 && refusalIn(answer)) || failed;
  }
}

const expired: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** An error document of the server is shorter than this. */
const errorBytes = 64 * 1024;

/** The body of a 200, unless it is not the file: a page, an error, nothing, or cut. @throws Failure rejected */
async function* contentIn(headers: Answer['headers'], body: AsyncIterable<Uint8Array>, upload: UploadPath) {
  // Without a length only the end of the connection would mark the end of the file.
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    throw new Failure('rejected', 'the response has no length: it may be cut');
  const type = String(headers['content-type']);
  if (/^(text\/html|application\/xhtml)/i.test(type) && !/\.(x?html?|xht)$/i.test(upload))
    throw new Failure('rejected', 'the server returned an HTML page');
  const isPerhapsError = /json/i.test(type) && !/\.json$/i.test(upload);
  let start = Buffer.alloc(0);
  let isFile = false;
  for await (const chunk of body) {
    if (!isFile) start = Buffer.concat([start, chunk]);
    if (isFile) yield chunk;
    else if (!isPerhapsError || start.length > errorBytes) {
      isFile = true;
      yield start;
    }
  }
  if (isFile) return;
  if (start.length === 0) throw new Failure('rejected', 'the server returned an empty file');
  const found = jsonIn(start.toString())?.value;
  if (isObject(found) && found['result'] === 'error') throw new Failure('rejected', 'the server returned an error');
  yield start;
}

async function orRefusal<T extends object>(work: () => Promise<T>): Promise<T | UploadRefusal> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof URIError) return { refused: 'its temporary address is not a URL', why: 'failed' };
    if (!(cause instanceof Failure)) throw cause;
    // One file may be kept from the account or break the server, and not the others.
    const isOfFile = [403, 500].includes(cause.details.http?.status ?? 0);
    if (!isOfFile && !['rejected', 'not_found', 'usage'].includes(cause.kind)) throw cause;
    return { refused: cause.details.server?.msg ?? cause.message, why: 'failed' };
  }
}

/** What the server itself says of a file, in JSON or one paragraph: a whole page is of a proxy, or of its storage. */
function refusalIn({ status, body, text }: Answer): UploadRefusal | undefined {
  const isError = isObject(body) && body['result'] === 'error';
  const said = isError ? serverWords(body).msg : /^<p>[^<]*<\/p>$/.exec(text.trim()) && wordsOf(text);
  if (typeof said !== 'string' || (status !== 403 && status !== 404)) return undefined;
  return { refused: `${said} (${status})`, why: status === 403 ? 'unreadable' : 'missing' };
}

/** @throws Failure rejected for an address outside the site: the file would come from somebody else */
async function temporaryCall(send: Send, upload: UploadPath): Promise<Call | UploadRefusal> {
  const segments = upload.split('/');
  const answer = await send({ method: 'GET', path: path`/api/v1/user_uploads/${{ segments }}`, repeat: 'safe' });
  const refusal = refusalIn(answer);
  if (refusal) return refusal;
  accept(answer);
  const url = isObject(answer.body) ? answer.body['url'] : undefined;
  const base = answer.http.url.slice(0, answer.http.url.indexOf('/api/v1/user_uploads/'));
  const target = typeof url === 'string' && URL.canParse(url, `${base}/`) ? new URL(url, `${base}/`) : undefined;
  if (!target?.href.startsWith(`${base}/`))
    throw new Failure('rejected', 'its temporary URL is not on this server', { http: answer.http });
  const places = target.href.slice(base.length + 1, target.href.length - target.search.length - target.hash.length);
  return {
    method: 'GET',
    path: path`/${{ segments: places.split('/').map(decodeURIComponent) }}`,
    query: [...target.searchParams],
    repeat: 'safe',
    timeout: fileTimeout,
  };
}
