import { Failure } from '../../core/failure.ts';
import { isLoopback } from '../../core/loopback.ts';
import { Secret } from '../../core/secret.ts';
import { shellWord } from '../../core/shell-word.ts';
import { Planned, type Call, type Connection, type KeyVariable, type Parameters, type PlannedRequest } from './call.ts';
import { encodeParameters, type Request } from './request.ts';

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

/**
 * A line of bash or zsh in which curl sends the request. The key comes from a variable, and each password of a form from one that is
 * named after it. Neither is among the words of a process, which other users of the machine can see; curl itself hides that of --user.
 */
function curlLine(request: PlannedRequest, call: Call, key: KeyVariable, caFile: string | undefined): string {
  const { method, url, content_type, headers = '', body } = request;
  const data = call.form ? formWords(call.form) : body === undefined ? [] : [`--data-raw ${shellWord(body)}`];
  return [
    'curl --globoff --fail-with-body',
    ...(caFile === undefined ? [] : [`--cacert ${shellWord(caFile)}`]),
    `--request ${method} ${shellWord(url)}`,
    keyWords(key),
    "--header 'Accept: application/json'",
    ...(content_type === undefined ? [] : [`--header ${shellWord(`Content-Type: ${content_type}`)}`]),
    ...headers.split('\n').flatMap((line) => (line === '' ? [] : [`--header ${shellWord(line)}`])),
    ...data,
  ].join(' ');
}

/** What sets the variables that the line reads, as far as they are not set already. */
function settingUp({ form = [] }: Call, { setup }: KeyVariable): string[] {
  const passwords = form.flatMap(([name, text]) => (text instanceof Secret ? [`read -rs ${variableOf(name)}`] : []));
  return [...(setup === undefined ? [] : [setup]), ...passwords];
}

function keyWords({ variable, user }: KeyVariable): string {
  if (user !== undefined) return `--user ${shellWord(user)}:"$${variable}"`;
  return `--header @<(printf 'Authorization: Token %s' "$${variable}")`;
}

/** curl joins the parts with `&`, in their order. */
function formWords(form: Parameters): string[] {
  return form.map(([name, text]) =>
    text instanceof Secret
      ? `--data-urlencode ${name}@<(printf %s "$${variableOf(name)}")`
      : `--data-raw ${shellWord(encodeParameters([[name, text]]))}`,
  );
}

function variableOf(name: string): string {
  return name.toUpperCase();
}
