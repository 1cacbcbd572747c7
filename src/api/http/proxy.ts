import { BlockList, isIP } from 'node:net';
import { Failure } from '../../core/failure.ts';
import { variable, type Environment } from '../../core/system.ts';
import { isLoopback, percentDecoded } from '../../schema/url.ts';
import { TransportError } from './transport-error.ts';

/** The proxy for a URL by its scheme and NO_PROXY; a URL of this computer has none. @throws Failure config */
export function proxyOf(url: string, env: Environment): URL | undefined {
  const { protocol, hostname, port } = new URL(url);
  const [name, usualPort] = protocol === 'https:' ? ['HTTPS_PROXY', '443'] : ['HTTP_PROXY', '80'];
  const text = variable(env, name) ?? variable(env, name.toLowerCase());
  if (text === undefined || isLoopback(hostname) || isExempt(hostname, port || usualPort, env)) return undefined;
  if (/^\s*["']/.test(text))
    throw new Failure('config', `the proxy variable ${name} is in quotes`, {
      hint: 'Write it without them, as http://host:port: here they are a part of it.',
    });
  // As in curl, no scheme means http. The login is cut off first: one such as DOMAIN\user is not valid in a URL.
  const [, scheme = 'http', login = '', place] = /^(?:([a-z][a-z\d+.-]*):\/\/)?(?:(.*)@)?(.*)$/is.exec(text) ?? [];
  if (!/^https?$/i.test(scheme) || !URL.canParse(`${scheme}://${place}`))
    throw new Failure('config', `the proxy variable ${name} is not the URL of an http proxy`, {
      hint: 'Write it as http://host:port.',
    });
  const proxy = new URL(`${scheme}://${place}`);
  [proxy.username, proxy.password] = [login.split(':', 1).join(''), login.replace(/^[^:]*:?/, '')];
  return proxy;
}

/** What to do where only ALL_PROXY names a proxy, which is not used; undefined elsewhere. */
export function unusedProxy(env: Environment): string | undefined {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];
  const unused = variable(env, 'ALL_PROXY') ?? variable(env, 'all_proxy');
  if (unused === undefined || names.some((name) => variable(env, name) !== undefined)) return undefined;
  return 'ALL_PROXY is not used: set HTTPS_PROXY to an http proxy.';
}

/** `host`, `.domain`, an address, a range such as `10.0.0.0/8`, each with `:port` or without, or `*`. */
function isExempt(hostname: string, port: string, env: Environment): boolean {
  const entries = (variable(env, 'NO_PROXY') ?? variable(env, 'no_proxy') ?? '').toLowerCase().split(/[\s,]+/);
  const host = hostname.replace(/[[\]]|\.$/g, '');
  return entries.some((entry) => {
    const [, place, only] = /^(\[.*\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? ['', entry];
    if (only !== undefined && only !== port) return false;
    const [name = '', bits] = place.replace(/[[\]]|^\*?\.|\.$/g, '').split('/');
    if (isIP(host) || isIP(name)) return isWithin(host, name, bits) || name === '*';
    return name === '*' || (name !== '' && `.${host}`.endsWith(`.${name}`));
  });
}

function isWithin(host: string, address: string, bits: string | undefined): boolean {
  const [family, most] = isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const size = bits === undefined ? most : /^\d+$/.test(bits) ? Number(bits) : Infinity;
  if (!isIP(host) || !isIP(address) || size > most) return false;
  const range = new BlockList();
  range.addSubnet(address, size, family);
  return range.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

/** The error of a response to CONNECT that opens no tunnel. */
export function refusal(status: number, at: string): TransportError {
  if (status === 407) return new TransportError('proxy asks for a password', { at });
  return new TransportError(status >= 500 ? 'proxy does not reach the server' : 'proxy refuses', {
    at,
    detail: `${status}`,
  });
}

export function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}
