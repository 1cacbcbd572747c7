import { quantity, type Milliseconds } from '../../core/duration.ts';
import { type FailedRequest, Failure, type FailureKind, type ServerWords } from '../../core/failure.ts';
import { isObject, isTooDeep, jsonIn } from '../../core/json.ts';

/** An answer as received. A class: V8 defines the getters of an object literal again for each object. */
export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly http: Required<FailedRequest>;
  bytes: Uint8Array;
  readonly size: number;
  /** Whether an earlier attempt is unconfirmed: it may have been processed, and its answer was lost. */
  afterUnconfirmed = false;
  /** Time between the call and the attempt that was answered. */
  waited: Milliseconds = 0;
  #text: string | undefined;
  #parsed: { readonly value: unknown } | undefined;

  constructor(http: Answer['http'], headers: Answer['headers'], bytes: Uint8Array) {
    this.status = http.status;
    this.headers = headers;
    this.http = http;
    this.bytes = bytes;
    this.size = bytes.length;
  }

  get text(): string {
    return (this.#text ??= decoder.decode(this.bytes));
  }

  get body(): unknown {
    return (this.#parsed ??= { value: jsonIn(this.text)?.value }).value;
  }

  /** Sets the `body`, which the caller has parsed from the bytes. */
  readAs(body: unknown): void {
    this.#parsed = { value: body };
  }

  /** Frees the body once its reader has used it, since V8 frees the objects of a request late. */
  release(): void {
    this.bytes = new Uint8Array();
    this.#text = undefined;
  }
}

const decoder = new TextDecoder();

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

export function isRedirect({ status }: Answer): boolean {
  return status >= 300 && status < 400;
}

/** Maximum length of a server's words that is kept: far more than an error shows. */
const maxChars = 20_000;

/** A server's words, cut to `maxChars` before the last whole word, since redaction does not recognize half a secret. */
export function bounded(words: string): string {
  if (words.length < maxChars) return words;
  let end = maxChars;
  while (/\S/.test(words.charAt(end - 1))) end -= 1;
  return words.slice(0, end);
}

export function serverWords(body: unknown): ServerWords {
  if (!isObject(body)) return {};
  const { result: _, code, msg: words, detail, ...others } = body;
  const spoken = words ?? detail;
  const msg = typeof spoken === 'string' ? bounded(spoken) : undefined;
  const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');
  const isNew = (value: unknown): boolean =>
    typeof value === 'number' || (typeof value === 'string' && !msg?.includes(value)) || isTexts(value);
  const extras = Object.entries(others).filter(([, value]) => isNew(value));
  return { code: typeof code === 'string' ? code : undefined, msg, ...Object.fromEntries(extras) };
}

/** What a body that is not of the API says, in one line: an HTML page by its title. */
export function wordsOf(text: string): string {
  const page = bounded(text);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(page)?.[1];
  return (title ?? page.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

export const pageHint =
  'Check the URL of the profile. If an access proxy asks for a sign-in there, its operator must let this program through.';

/** An answer that does not come from the API: a proxy's page, a login page, a cut document. */
export function foreignBody(answer: Answer, api: string): Failure {
  // Only a page is quoted: what was to be data may hold license keys.
  const words = isPage(answer) ? wordsOf(answer.text) : '';
  return new Failure(
    'unavailable',
    `${api} answered ${answer.status} with ${foreignKind(answer)}${words === '' ? '' : `: ${words}`}`,
    { hint: pageHint, http: answer.http },
  );
}

export function isPage({ text }: Answer): boolean {
  return /^\s*</.test(text);
}

function foreignKind(answer: Answer): string {
  if (isPage(answer)) return 'an HTML page';
  if (answer.text.trim() === '') return 'nothing';
  if (answer.body !== undefined) return 'JSON that is not from this API';
  return isTooDeep(answer.text) ? 'JSON that is nested too deep' : 'something that is not JSON';
}

export const mostRedirects = 5;

/** The failure of a redirect that is not followed. It shows only the origin, since the path may hold a license code. */
export function redirectFailure({ headers: { location }, http, status }: Answer): Failure {
  const isUrl = typeof location === 'string' && URL.canParse(location, http.url);
  const { origin } = new URL(isUrl ? location : '', http.url);
  const to = `${isUrl ? ` to ${origin}` : ''} (${status})`;
  const elsewhere = `the server redirects${to}; the key is not sent elsewhere and writes are not redirected`;
  const isLoop = isUrl && http.method === 'GET' && origin === new URL(http.url).origin;
  const message = isLoop ? `more than ${mostRedirects} redirects, the last${to}` : elsewhere;
  return new Failure('rejected', message, {
    hint: `If the API moved, store its final URL in the profile. ${pageHint}`,
    http,
  });
}

/** The failure of a request that may have been processed, and is not sent again; `what` says how the request ended. */
export function unconfirmed(what: string, details: Failure['details'], kind: FailureKind = 'unknown'): Failure {
  const message = `${what}; the request may or may not have been processed`;
  return new Failure(kind, message, { ...details, retryable: false });
}

/** Turns the failure of a later page into `incomplete`. An interruption keeps its kind. */
export function incompleteAfter(pages: number, cause: unknown): unknown {
  return incompleteWith(`the list ends after ${quantity(pages, 'page')}`, cause);
}

/** Turns a failure after a part of the result (`what`) into `incomplete`. An interruption keeps its kind. */
export function incompleteWith(what: string, cause: unknown): unknown {
  if (!(cause instanceof Failure) || cause.isInterruption || unchanged.has(cause.kind)) return cause;
  return cause.as('incomplete', `${what}: ${cause.message}`, { retryable: true });
}

const unchanged: ReadonlySet<FailureKind> = new Set(['incomplete', 'usage', 'internal']);
