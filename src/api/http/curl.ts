import { Secret } from '../../core/secret.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { Call, KeyVariable, Parameters, PlannedRequest } from './call.ts';
import { encodeParameters } from './request.ts';

/**
 * A line of bash or zsh in which curl sends the request. The key comes from a variable, and each password of a form from one that is
 * named after it. Neither is among the words of a process, which other users of the machine can see; curl itself hides that of --user.
 */
export function curlLine(request: PlannedRequest, call: Call, key: KeyVariable, caFile: string | undefined): string {
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
export function settingUp({ form = [] }: Call, { setup }: KeyVariable): string[] {
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
