import { Failure } from '../../core/failure.ts';
import { isLoopback } from '../../core/loopback.ts';
import { Planned, type Call, type Connection } from './call.ts';
import { curlLine, settingUp } from './curl.ts';
import type { Request } from './request.ts';

/** @throws Failure config where Node is set to trust every certificate, and the key would leave this machine */
export function guardTls({ surroundings }: Connection, { method, url, shown }: Request): void {
  // Looking at the environment costs as much as parsing the URL: a bulk write over http does neither.
  if (url.startsWith('http:') || surroundings.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' || isLoopback(hostname)) return;
  throw new Failure('config', 'NODE_TLS_REJECT_UNAUTHORIZED=0 would send the key to any server: nothing was sent', {
    hint: 'Unset it, and give the authority of the server with --ca-file FILE or NODE_EXTRA_CA_CERTS.',
    http: { method, url: shown },
  });
}

/**
 * Stops a write that may not be sent, and in a dry run every write, which is noted in place of it.
 * @throws Failure config for a read-only profile; Planned in a dry run
 */
export function guardWrite(
  { readOnly, headers, plan, key, surroundings }: Connection,
  request: Request,
  call: Call,
): void {
  if (readOnly) {
    throw new Failure('config', 'this profile is read-only: nothing was sent', {
      hint: 'Choose another profile with --profile, or sign in again without --read-only.',
      http: { method: request.method, url: request.shown },
    });
  }
  if (!plan) return;
  const type = request.headers['content-type'];
  const added = Object.entries(headers).map(([name, text]) => `${name}: ${text}`);
  const planned = {
    method: request.method,
    url: request.url,
    ...(type === undefined ? {} : { content_type: type }),
    ...(added.length === 0 ? {} : { headers: added.join('\n') }),
    ...(request.shownBody === undefined ? {} : { body: request.shownBody }),
  };
  plan({
    request: planned,
    curl: key === undefined ? '' : curlLine(planned, call, key, surroundings.caFile),
    setup: key === undefined ? [] : settingUp(call, key),
  });
  throw new Planned();
}
