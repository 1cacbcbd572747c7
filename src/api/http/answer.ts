import { Failure, type FailureKind } from '../../core/failure.ts';
import type { Answer } from './call.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Most characters of a foreign body that an error repeats. */
const mostWords = 300;

/** Words of a server, cut where an error would be too long to read. */
export function shortened(words: string): string {
  return words.length > mostSaid ? `${words.slice(0, mostSaid)}… (${words.length} characters)` : words;
}

const mostSaid = 2000;

/** What a body that is not of the API says, in one line: an HTML page by its title. */
export function wordsOf(text: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const words = (title ?? text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  return words.length > mostWords ? `${words.slice(0, mostWords)}…` : words;
}

/** An answer in which something else than the API speaks: a proxy page, a login page, a cut document. */
export function foreignBody(answer: Answer, api: string): Failure {
  // Only a page is quoted: what was to be data may hold license keys.
  const isPage = /^\s*</.test(answer.text);
  const words = isPage ? wordsOf(answer.text.slice(0, 20_000)) : '';
  const kind = isPage
    ? 'an HTML page'
    : answer.text.trim() === ''
      ? 'nothing'
      : answer.body === undefined
        ? 'something that is not JSON'
        : 'JSON that is not of this API';
  return new Failure(
    'unavailable',
    `${api} answered ${answer.status} with ${kind}${words === '' ? '' : `: ${words}`}`,
    {
      hint: 'Check the URL of the profile; a proxy or login page may stand between.',
      http: answer.http,
    },
  );
}

/** A redirect that is not followed: on a write, or out of the origin. */
export function redirected(answer: Answer): Failure {
  const target = targetOf(answer);
  return new Failure(
    'rejected',
    `the server redirects${target === undefined ? '' : ` to ${target}`} (${answer.status}); the key is not sent elsewhere and writes are not redirected`,
    {
      hint: 'Store the final URL in the profile.',
      http: answer.http,
    },
  );
}

/** Where a URL hides a license code, the path of its redirect holds the same: only the host is told then. */
function targetOf({ headers, http }: Answer): string | undefined {
  const { location } = headers;
  if (typeof location !== 'string') return undefined;
  if (!http.url.includes('[')) return location;
  return URL.canParse(location, http.url) ? new URL(location, http.url).origin : 'another place';
}

/** What the failure of a later page means: the list is there in part (contract, section 3). Being interrupted stays what it is. */
export function incompleteAfter(pages: number, cause: unknown): unknown {
  if (!(cause instanceof Failure) || unchanged.has(cause.kind)) return cause;
  return new Failure('incomplete', `the list ends after ${pages} page${pages === 1 ? '' : 's'}: ${cause.message}`, {
    ...cause.details,
    retryable: true,
    cause,
  });
}

const unchanged: ReadonlySet<FailureKind> = new Set(['cancelled', 'terminated', 'incomplete', 'usage', 'internal']);
