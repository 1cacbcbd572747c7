/**
 * The name of a server in journals and claims: the origin of a URL. The names and addresses by which a computer reaches
 * itself are one server (docs/exactly-once.md, Claims).
 */
export function serverOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  const isThisComputer =
    /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0)$/.test(host) ||
    /^\[(::1?|::ffff:(7f[0-9a-f]{2}|0):[0-9a-f]+)\]$/.test(host);
  return `${protocol}//${isThisComputer ? 'localhost' : host}${port === '' ? '' : `:${port}`}`;
}
