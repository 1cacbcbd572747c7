import { Failure, unless, usage } from '../core/failure.ts';
import type { Path } from './http/call.ts';
import { joined, path } from './http/request.ts';

export type Service = 'licensing' | 'chat';

export type TypedPath = ReturnType<typeof typedPath>;

const prefixes = { licensing: 'v1', chat: 'api/v1' } as const;

/** With the prefix or without. @throws Failure usage for a path that leaves the server or the API, encoded or not */
export function typedPath(service: Service, typed: string) {
  const [, place = '', question, search = ''] = /^([^?#]*)(\?)?([^#]*)$/.exec(typed) ?? [];
  const isPlain = typed !== '' && !typed.includes('#') && !/^\/\/|^[a-z][a-z\d+.-]*:|\\|[\s\p{Cc}]/iu.test(place);
  if (!isPlain) throw outside(typed, service);
  const below = place.replace(/^\//, '').replace(new RegExp(`^${prefixes[service]}/`), '');
  const segments = below.replace(/\/$/, '').split('/').map(decode);
  if (!segments.every((segment) => segment !== undefined)) throw outside(typed, service);
  const [collection = '', ...others] = segments;
  const pieces =
    service === 'chat'
      ? [path`/api/v1/${{ segments }}`]
      : // What follows the collection may be a license code.
        [path`/v1/${collection}`, ...others.map((value) => path`/${{ name: 'license_code', value }}`)];
  return {
    path: joined([...pieces, ...(below.endsWith('/') ? [path`/`] : [])]),
    query: question === undefined ? [] : [...new URLSearchParams(search)],
    isItem: segments.length > 1 || segments[0] === 'first-activation',
  };
}

/** The path of a URL that a server names; undefined where it is not one of the API. */
export function pathBelow(service: Service, pathname: string): Path | undefined {
  if (!pathname.startsWith(`/${prefixes[service]}/`)) return undefined;
  return unless(Failure, () => typedPath(service, pathname).path);
}

function outside(typed: string, service: Service): Error {
  return usage(
    `'${typed}' is not a path of the API`,
    `Give a path below /${prefixes[service]}, such as ${service === 'chat' ? 'messages' : 'license/'}.`,
  );
}

/** Undefined for a segment that a server or proxy may take for another path, decoded however often. */
function decode(segment: string): string | undefined {
  const readings: string[] = [];
  let text = decodedOnce(segment);
  while (text !== undefined && text !== readings.at(-1)) {
    readings.push(text);
    text = decodedOnce(text);
  }
  // Some servers cut parameters after a semicolon off a segment before they resolve `..`.
  const climbs = readings.some((reading) => reading === '' || /^\.{1,2}(;|$)|[/\\\p{Cc}]/u.test(reading));
  return climbs ? undefined : readings[0];
}

function decodedOnce(text: string): string | undefined {
  return unless(URIError, () => decodeURIComponent(text));
}
