import { writeJson } from '../../core/json.ts';
import { isWindows } from '../../core/system.ts';
import { namesIn } from '../../core/table-names.ts';
import { serveOptions } from '../../sandbox/serve-options.ts';
import { rowOf } from '../../output/formats.ts';
import { consentVariable, isExposed } from '../../schema/url.ts';
import { outputField } from '../../schema/field.ts';
import { writeNamed } from '../../store/disk/files.ts';
import { command } from '../command.ts';
import type { SandboxAddress } from '../context.ts';

/** How each shell sets a variable; the values of a sandbox have no character that a shell would expand. */
const settersOf = {
  sh: (name: string, value: string | number) => `export ${name}=${value}`,
  powershell: (name: string, value: string | number) => `$env:${name} = '${value}'`,
  cmd: (name: string, value: string | number) => `set "${name}=${value}"`,
} as const;

/** The lines are under a symbol, so -o json does not print them as a field. */
const lines = Symbol('lines');

export default command({
  about: [
    'Serves the licensing API and the chat API until Ctrl-C, on this computer only unless you give --listen, with sample data: ' +
      'two applications with licenses and activations, and an organization with channels, topics, views and snippets.',
    'Once it listens, it prints the variables that point chatelaine at it, as lines that a shell evaluates (--shell); -o json prints one object.',
    'On another computer or in a container, replace the host in those variables with the name or address of this computer, and set ' +
      `${consentVariable}=HOST:PORT.`,
    'With --fault it misbehaves on purpose, so you can test your scripts against a bad network: ' +
      '[METHOD ]PATH=FAULT:PROBABILITY, FAULT#N for the next N requests, or FAULT/N for every Nth; rules are separated by semicolons, and the manual lists ' +
      'every fault.',
    "The specification leaves the form of the licensing API's responses open: --list-shape, --write-shape, --names, --filters and " +
      '--stale imitate other servers.',
  ],
  options: {
    shell: {
      kind: 'string',
      choices: namesIn(settersOf),
      help: 'Shell for the lines that set the variables (default: sh; on Windows powershell)',
    },
    ...serveOptions,
    ready_file: outputField('FILE', 'Also write the variables to this file once the server listens'),
  },
  examples: [
    'chatelaine sandbox serve',
    'chatelaine sandbox serve --shell powershell',
    'chatelaine sandbox serve --feature-level 372 --data sandbox.ndjson',
    'chatelaine sandbox serve --port 8080 --fault "POST /v1/license/=drop-after:0.2" --seed 7',
  ],

  async *run({ ready_file, shell = isWindows ? 'powershell' : 'sh', ...options }, context) {
    const asJson = rowOf(context.options.output)?.isJson;
    for await (const address of context.sandbox().serve(options)) {
      const text = linesOf(address, shell);
      const ready = asJson ? writeJson(address) : text;
      if (ready_file !== undefined) await writeNamed(ready_file, (file) => file.writeFile(`${ready}\n`), 0o600);
      yield { ...address, [lines]: text };
    }
  },

  result: 'one',
  fields: ['licensing', 'chat'],

  show: { text: (row) => row[lines] },
});

function linesOf({ licensing, chat }: SandboxAddress, shell: keyof typeof settersOf): string {
  const variables: readonly (readonly [name: string, value: string | number])[] = [
    ['CHATELAINE_BASE_URL', licensing.base_url],
    ['CHATELAINE_API_KEY', licensing.api_key],
    ['CHATELAINE_APP_CODE', licensing.app_code],
    ['CHATELAINE_CHAT_SITE', chat.site],
    ['CHATELAINE_CHAT_EMAIL', chat.email],
    ['CHATELAINE_CHAT_API_KEY', chat.api_key],
    ...(isExposed(chat.site) ? [[consentVariable, new URL(chat.site).host] as const] : []),
  ];
  return variables.map(([name, value]) => settersOf[shell](name, value)).join('\n');
}
