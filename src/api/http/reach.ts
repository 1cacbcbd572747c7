import type { Milliseconds } from '../../core/duration.ts';
import type { Clock, Environment } from '../../core/world.ts';
import type { Send } from './call.ts';
import { proxyFor } from './proxy.ts';
import { path } from './request.ts';

/** How a server was reached. */
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
  return { proxy: proxyFor(url, env), status, skew: Number.isNaN(date) ? undefined : clock.now() - date };
}
