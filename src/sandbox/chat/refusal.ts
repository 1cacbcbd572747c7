import { levels } from './levels.ts';

/** An error answer of the chat service: thrown where a rule is broken, turned into the envelope in `chat.ts`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  /** Further fields of the body, such as `var_name`. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    msg: string,
    {
      status = 400,
      code = 'BAD_REQUEST',
      extra = {},
      headers = {},
    }: Partial<Pick<Refusal, 'status' | 'code' | 'extra' | 'headers'>> = {},
  ) {
    super(msg);
    this.status = status;
    this.code = code;
    this.extra = extra;
    this.headers = headers;
  }
}

/** A thing that is not there: status 404, and yet the code BAD_REQUEST (docs/apis.md, Envelope and errors). */
export function absent(msg: string): Refusal {
  return new Refusal(msg, { status: 404 });
}

/** 500, which names no code. */
export function serverError(): Refusal {
  return new Refusal('Internal server error', { status: 500 });
}

export function unauthorized(msg: string): Refusal {
  return new Refusal(msg, {
    status: 401,
    code: 'UNAUTHORIZED',
    headers: { 'www-authenticate': 'Basic realm="zulip"' },
  });
}

/** 429; `wait` in seconds is in the header and the body as the same float (docs/apis.md, Rate limits). */
export function tooMany(wait: number, headers: Refusal['headers'] = {}): Refusal {
  return new Refusal(rateLimitMessage(0), {
    status: 429,
    code: 'RATE_LIMIT_HIT',
    extra: { 'retry-after': wait },
    headers: { 'retry-after': String(wait), ...headers },
  });
}

/** The wording of level 442 names the page that explains it. */
export function rateLimitMessage(level: number): string {
  const message = 'API usage exceeded rate limit';
  return level < levels.rateLimitPage
    ? message
    : `${message}; see https://zulip.com/api/http-headers#rate-limiting-response-headers`;
}

/** A narrow that is well formed but means nothing (docs/apis.md, Messages). */
export function badNarrow(desc: string): Refusal {
  return new Refusal(`Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', extra: { desc } });
}
