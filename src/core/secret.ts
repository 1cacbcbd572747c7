import { inspect } from 'node:util';

/** A key or password: it can be sent and stored, and cannot be shown by accident. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself: called where it is sent, where it is stored, and by `auth token`; a test counts the places. */
  reveal(): string {
    return this.#value;
  }

  /** A secret that holds this one, such as an Authorization header: both stay hidden. */
  framed(frame: (value: string) => string): Secret {
    return new Secret(frame(this.#value));
  }

  equals(other: Secret): boolean {
    return this.#value === other.#value;
  }

  /** `text` with every form of the value hidden: raw, URL-encoded, JSON-escaped, base64 at any alignment. */
  redact(text: string): string {
    if (this.#value.length < shortest) return text;
    return formsOf(this.#value).reduce((rest, form) => rest.replaceAll(form, '[secret]'), text);
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** A shorter word occurs in every text: hiding it would reveal it, and garble the rest. */
const shortest = 4;

/** Longest first, so that one form is never left half-hidden by another. A lone surrogate is sent as U+FFFD. */
function formsOf(value: string): string[] {
  const sent = Buffer.from(value).toString();
  const urls = [encodeURIComponent(sent), new URLSearchParams([['', sent]]).toString().slice(1)];
  // `%2f` for `%2F`, as some servers answer; and the spelling of servers that write JSON in ASCII alone.
  const lowerUrls = urls.map((url) => url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()));
  const json = inJson(value);
  const ascii = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const escaped = [json, ascii, json.replaceAll('/', '\\/')];
  const plain = [value, sent, ...urls, ...lowerUrls, ...escaped, ...escaped.map(inJson)];
  return [...new Set([...plain, ...base64Forms(value)])].sort((one, other) => other.length - one.length);
}

/** A body of JSON that an error in JSON quotes. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Base64 of a text that holds the value shows it at one of three alignments; the edges mix with neighbours. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  if (bytes.length < 6) return [];
  return [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const text = shifted.toString('base64').replace(/=+$/, '');
    const start = shift === 0 ? 0 : shift + 1;
    const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    const core = text.slice(start, end);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
