import { type Answer, isSuccess } from '../../api/http/answer.ts';
import type { Parameters } from '../../api/http/call.ts';
import { inputBody, sendRaw, typedPath, type RawRequest, type Service } from '../../api/raw.ts';
import { usage } from '../../core/failure.ts';
import { jsonIn, parseJson } from '../../core/json.ts';
import { flagField, textField, collect, type Fields, type Values } from '../../schema/field.ts';
import { command, type NamelessCommand } from '../command.ts';
import type { Disk, Keys } from '../context.ts';

const rawArguments = {
  method: {
    kind: 'string',
    required: true,
    choices: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    help: 'GET, POST, PUT, PATCH or DELETE',
  },
  path: { kind: 'string', required: true, help: 'Path of the API, with or without its prefix; a query is allowed' },
} as const satisfies Fields;

const rawOptions = {
  raw_field: {
    ...textField('NAME=TEXT', 'A parameter as text: in the query of a GET, else in the body'),
    short: 'f',
    many: true,
  },
  field: { ...textField('NAME=JSON', 'A parameter as JSON: a number, true, a list'), short: 'F', many: true },
  input: textField('FILE', 'The body from a file, byte for byte; - is standard input'),
  include: { kind: 'boolean', short: 'i', help: 'Print status and headers before each response' },
  paginate: flagField('GET only: follow the next pages of a list, and print them one after the other'),
} as const satisfies Fields;

const rawRules = [
  'The response is printed unchanged, whatever -o says; --jq filters it. A response other than 2xx is printed too, and the command exits with the code ' +
    'of its error; with --jq only the error is shown. A 2xx is a success whatever its body says.',
  'The command uses the same credential, time limits, and redaction as every other command. A read-only profile refuses everything ' +
    'but GET, and --dry-run shows the request of a write. A path that leaves the server or the API is refused.',
] as const;

export const licensing = rawCommand('licensing', {
  about:
    'The path is below /v1, which may be left out. A body is JSON. GET, PUT and PATCH are repeated after a failure of the network; POST ' +
    'and DELETE only if the server certainly did nothing. license ensure and license apply do not know of a license that this command created.',
  examples: [
    'chatelaine api licensing GET license/ -f remote_user=physio-7731',
    'chatelaine api licensing GET license/ --paginate --jq ".[].remote_user"',
    'chatelaine api licensing PATCH license/4f1c9a/ -F size_allowance=6 --dry-run',
  ],
});

export const chat = rawCommand('chat', {
  about:
    'The path is below /api/v1, which may be left out. A body is a form. A GET is repeated after a failure of the network; any other ' +
    'request only if the server certainly did nothing. messages fetch --all reads the pages of messages.',
  examples: [
    'chatelaine api chat GET messages -F anchor=1451 -F num_before=5 -F num_after=0',
    'chatelaine api chat GET "messages?anchor=0&num_before=0&num_after=1000" --jq ".messages[].id"',
    'chatelaine api chat PATCH navigation_views/inbox -F is_pinned=true',
  ],
});

/** Makes the command that sends any request to one service; `about` says what holds for that service only. */
function rawCommand(
  service: Service,
  { about, examples }: { readonly about: string; readonly examples: readonly string[] },
): NamelessCommand {
  return command({
    about: [...rawRules, about],
    args: rawArguments,
    options: rawOptions,
    examples,
    rules: [
      { option: 'include', excludes: ['jq'] },
      { option: 'input', excludes: ['raw_field', 'field'], say: () => '--input excludes -f and -F: both are the body' },
    ],
    dryRun: ['requests'],
    async *run(values, context) {
      const request = await rawRequest(service, values, context);
      const send = await context.servers.send(service);
      for await (const answer of sendRaw(service, send, request))
        if (isSuccess(answer) || context.options.jq === undefined)
          yield (values.include ? headOf(answer) : '') + answer.text;
    },
    result: 'json text',
  });
}

type RawValues = Values<typeof rawArguments> & Values<typeof rawOptions>;

/** @throws Failure usage */
async function rawRequest(
  service: Service,
  values: RawValues,
  { disk: { readBytes }, secrets: { hide } }: Keys & Disk,
): Promise<RawRequest> {
  const { method, path, input, paginate } = values;
  if (paginate && method !== 'GET') throw usage('--paginate applies to GET only');
  if (paginate && service === 'chat')
    throw usage('--paginate applies to the licensing API only', 'messages fetch --all reads every message.');
  const { query, ...at } = typedPath(service, path);
  const pairs = pairsOf(values);
  if (input === undefined && method === 'GET') return { method, at, query: [...query, ...textsOf(pairs)], paginate };
  if (input === undefined) return { method, at, query, body: bodyOf(service, pairs, hide) };
  if (method === 'GET') throw usage('--input: a GET has no body');
  const bytes = await readBytes(input);
  // The form is parsed only to find its passwords, which are not shown.
  const form = service === 'chat' ? sealPasswords([...new URLSearchParams(bytes.toString('utf8'))], hide) : undefined;
  return { method, at, query, body: inputBody(service, { file: input, bytes }, form) };
}

function pairsOf({ raw_field = [], field = [] }: RawValues) {
  const words = [
    ...raw_field.map((word) => ({ word, isJson: false, label: '-f' })),
    ...field.map((word) => ({ word, isJson: true, label: '-F' })),
  ];
  return collect(words, ({ word, isJson, label }) => {
    const at = word.indexOf('=');
    if (at < 1) throw usage(`${label}: expected NAME=${isJson ? 'JSON' : 'TEXT'}`);
    const [name, text] = [word.slice(0, at), word.slice(at + 1)];
    if (isJson && !jsonIn(text)) throw usage(`${label} ${name}: not valid JSON`, 'For text, use -f.');
    return { name, text, isJson };
  });
}

function textsOf(pairs: ReturnType<typeof pairsOf>): readonly (readonly [string, string])[] {
  return pairs.map(({ name, text }) => [name, text]);
}

function bodyOf(service: Service, pairs: ReturnType<typeof pairsOf>, hide: Keys['secrets']['hide']) {
  if (pairs.length === 0) return {};
  if (service === 'chat') return { form: sealPasswords(textsOf(pairs), hide) };
  const repeated = pairs.find(({ name }, index) => pairs.slice(0, index).some((other) => other.name === name));
  if (repeated) throw usage(`${repeated.name}: given twice`);
  return { json: Object.fromEntries(pairs.map(({ name, text, isJson }) => [name, isJson ? parseJson(text) : text])) };
}

function sealPasswords(texts: readonly (readonly [string, string])[], hide: Keys['secrets']['hide']): Parameters {
  return texts.map(([name, text]) => [name, /password|secret|token|api_?key/i.test(name) ? hide(text) : text] as const);
}

/** The status and headers, with the line ends of HTTP, as curl and gh print them. */
function headOf({ status, headers }: Answer): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((text) => `${name}: ${text}\r\n`),
  );
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`;
}
