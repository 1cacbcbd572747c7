import { usage } from '../core/failure.ts';

/** Whether a text is a whole URL, as the address bar of the web app has it. */
export function isUrl(text: string): boolean {
  return /^\s*https?:\/\//i.test(text);
}

/**
 * What follows `#` in a URL of the account's own site; `what` names the value in errors.
 * @throws Failure usage for a URL of another site, or without `#`
 */
export function fragmentOf(what: string, url: string, site: string | undefined): string {
  const at = url.indexOf('#');
  if (at < 0) throw usage(`${what} '${url}': the URL has no #`, 'Copy the URL while the page is shown.');
  const origin = originOf(what, url);
  if (site === undefined || origin !== originOf(what, site))
    throw usage(`${what} '${url}': the URL is of ${origin}, the account of ${site ?? 'no site'}`);
  return url.slice(at + 1).trimEnd();
}

function originOf(what: string, url: string): string {
  if (!URL.canParse(url)) throw usage(`${what} '${url}': not a URL`);
  return new URL(url).origin;
}
