import { Failure, unless, usage } from '../core/failure.ts';
import { variable, type Environment } from '../core/system.ts';

/** The base URL of a licensing API, without `/v1`, the path of a request or a last slash. @throws Failure usage */
export function readBaseUrl(text: string): string {
  const url = readUrl('the base URL', text);
  return `${url.origin}${pathWithout(url, /\/v1(\/(license|first-activation)(\/[^/]+)?)?$/)}`;
}

/** The URL of a chat organization without `/api/v1`; a host gets a scheme, as in zuliprc. @throws Failure usage */
export function readSite(text: string): string {
  const scheme = text.startsWith('localhost') ? 'http://' : 'https://';
  // A word without a dot or colon is no host: it was probably meant for another question.
  const isHost = /^[^/]*[.:]|^localhost(\/|$)/.test(text) && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = readUrl('the site', isHost ? scheme + text : text);
  return `${url.origin}${pathWithout(url, /\/api(\/v1)?$/)}`;
}

/** True if requests to the URL can be read on their way: plain http beyond this computer. */
export function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}

export const consentVariable = 'CHATELAINE_ALLOW_HTTP';

/** Plain http beyond this computer needs `allow_http`, or the host in the variable. @throws Failure config */
export function refuseExposed(url: string, profile: { readonly allow_http?: boolean }, env: Environment): void {
  if (!isExposed(url) || profile.allow_http) return;
  const { host, hostname, port } = new URL(url);
  const consent = variable(env, consentVariable)?.toLowerCase();
  if (consent === hostname || consent === `${hostname}:${port || '80'}`) return;
  throw new Failure('config', `'${url}' is not encrypted: a key is sent over http only to this computer`, {
    hint: `Write https://${host}; or, in a network that you trust, sign in with --allow-http, or set ${consentVariable}=${host}.`,
  });
}

/** Scheme, host and port: what a key is bound to. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

function pathWithout(url: URL, end: RegExp): string {
  return url.pathname.replace(/\/+$/, '').replace(end, '').replace(/\/+$/, '');
}

/** Refuses quotes, which shells remove, but files and container platforms do not. @throws Failure usage without it */
export function refuseQuoted(what: string, text: string): void {
  if (/^(["']).*\1$/s.test(text))
    throw usage(`${what} is in quotes`, 'Write it without them: here they are a part of it.');
}

/** The text is never repeated where it may hold a password. */
function readUrl(label: string, text: string): URL {
  refuseQuoted(label, text.replace(/^https?:\/\/(?=['"])/, ''));
  const isClean = !/[\s\\]|[^!-~\u00a0-\uffff]/.test(text) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]/.test(text);
  if (!isClean || !URL.canParse(text)) {
    const shown = /[@\p{Cc}]/u.test(text) ? '' : ` '${text}'`;
    const isHost = /^[\w-]+(\.[\w-]+)+(:\d+)?(\/[\w./-]*)?$/.test(text);
    throw usage(
      `${label}${shown} is not a URL`,
      `Write ${isHost ? `https://${text}` : 'it as in https://example.com'}.`,
    );
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw usage(`${label} holds a user name or password`, 'Leave them out; chatelaine prompts for the key.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw usage(`${label} '${text}' is neither https nor http`);
  if (/[?#]/.test(text)) throw usage(`${label} holds a query or fragment`, 'Leave out ? and # and what follows.');
  return url;
}

/** Decodes a percent-encoded text; a sign that is no encoding, as in `100%`, stays. */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (part) => unless(URIError, () => decodeURIComponent(part)) ?? part);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

/** A server's name in records: its origin; this computer has one name (docs/exactly-once.md, A record a server). */
export function serverOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  const isThisComputer =
    /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0)$/.test(host) ||
    /^\[(::1?|::ffff:(7f[0-9a-f]{2}|0):[0-9a-f]+)\]$/.test(host);
  return `${protocol}//${isThisComputer ? 'localhost' : host}${port === '' ? '' : `:${port}`}`;
}
