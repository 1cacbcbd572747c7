export interface SandboxAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Properties that are undefined are not in the body. */
export function json(status: number, value: unknown, headers: SandboxAnswer['headers'] = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function html(status: number, body: string, headers: SandboxAnswer['headers'] = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}

/** An answer without any body. */
export function empty(status: number, headers: SandboxAnswer['headers'] = {}): SandboxAnswer {
  return { status, headers, body: '' };
}

/** The page that both frameworks send for a URL that they do not know (docs/apis.md, Envelope and errors). */
export function unknownPage(): SandboxAnswer {
  return html(404, '<!DOCTYPE html><html><head><title>Page not found</title></head><body>...</body></html>');
}

const reasons: Readonly<Record<number, string>> = {
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Large',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
};

/** An error page of the proxy in front of the services. */
export function proxyPage(status: number): SandboxAnswer {
  const title = `${status} ${reasons[status] ?? 'Error'}`;
  const body =
    status >= 500
      ? '<!DOCTYPE html><html><body>Internal server error</body></html>'
      : `<html><head><title>${title}</title></head><body></body></html>`;
  return { status, headers: { 'content-type': 'text/html' }, body };
}
