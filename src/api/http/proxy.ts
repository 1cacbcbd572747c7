import type { Milliseconds } from '../../core/duration.ts';
import { Failure, unless } from '../../core/failure.ts';
import { variable, type Clock, type Environment } from '../../core/system.ts';
import { isExposed } from '../../schema/url.ts';
import type { Send } from './call.ts';
import { path } from './request.ts';

/** The proxy for a URL by its scheme and NO_PROXY; plain http to this computer has none. @throws Failure config */
export function proxyOf(url: string, env: Environment): URL | undefined {
  const { protocol, hostname, port } = new URL(url);
  const [name, usualPort] = protocol === 'https:' ? ['HTTPS_PROXY', '443'] : ['HTTP_PROXY', '80'];
  const text = variable(env, name) ?? variable(env, name.toLowerCase());
  if (text === undefined || (protocol !== 'https:' && !isExposed(url))) return undefined;
  if (isExempt(hostname, port || usualPort, env)) return undefined;
  // curl takes a proxy without a scheme for http.
  const proxy = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(proxy) && /^https?:/i.test(proxy)) return new URL(proxy);
  throw new Failure('config', `the proxy variable ${name} is not the URL of an http proxy`, {
    hint: 'Write it as http://host:port.',
  });
}

/** `host`, `.domain`, `host:port` or `*`, separated by commas or blanks. */
function isExempt(hostname: string, port: string, env: Environment): boolean {
  const entries = (variable(env, 'NO_PROXY') ?? variable(env, 'no_proxy') ?? '').toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    if (host === '') return false;
    const isNamed = host === '*' || hostname === host || hostname.endsWith(`.${host}`);
    return isNamed && (only === undefined || only === port);
  });
}

export interface Reach {
  /** The proxy that the request went through, without its password. */
  readonly proxy: string | undefined;
  readonly status: number;
  /** By how much this machine's clock is ahead of the server's; undefined where the server does not send the time. */
  readonly skew: Milliseconds | undefined;
}

/** @throws Failure unavailable naming DNS, proxy, TLS, time-out or server */
export async function reach(send: Send, url: string, env: Environment, clock: Clock): Promise<Reach> {
  const segments = new URL(url).pathname.split('/').filter((segment) => segment !== '');
  const { status, headers } = await send({ method: 'GET', path: path`/${{ segments }}`, repeat: 'safe' });
  const date = typeof headers['date'] === 'string' ? Date.parse(headers['date']) : NaN;
  const proxy = unless(Failure, () => proxyOf(url, env)?.host);
  return { proxy, status, skew: Number.isNaN(date) ? undefined : clock.now() - date };
}
