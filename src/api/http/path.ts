import { usage } from '../../core/failure.ts';

/** A URL path below the API's base: only `path` makes one. `shown` hides what must not appear in traces and errors. */
export interface Path {
  readonly sent: string;
  readonly shown: string;
}

/** A value that goes into a URL but is shown as its name only. */
export interface Hidden {
  readonly name: string;
  readonly value: string;
}

/** Several segments whose slashes are part of the value. */
export interface Segments {
  readonly segments: readonly string[];
}

/**
 * path`/license/${code}/` encodes each value.
 * @throws Failure usage for a value that would climb out of its segment: proxies resolve `.` and `..` even when encoded (docs/apis.md, Navigation views)
 */
export function path(parts: TemplateStringsArray, ...values: readonly (string | number | Hidden | Segments)[]): Path {
  const pieces = parts.map((part, index) => {
    const value = values[index - 1];
    const piece = value === undefined ? { sent: '', shown: '' } : encode(value);
    return { sent: piece.sent + part, shown: piece.shown + part };
  });
  return { sent: pieces.map((piece) => piece.sent).join(''), shown: pieces.map((piece) => piece.shown).join('') };
}

function encode(value: string | number | Hidden | Segments): Path {
  if (typeof value === 'object' && 'segments' in value) {
    const sent = value.segments.map((text) => segment(text)).join('/');
    return { sent, shown: sent };
  }
  if (typeof value === 'object') return { sent: segment(value.value), shown: `[${value.name}]` };
  const sent = segment(String(value));
  return { sent, shown: sent };
}

function segment(text: string): string {
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text))
    throw usage(`'${text}' cannot be part of a URL`);
  return encodeURIComponent(text);
}
