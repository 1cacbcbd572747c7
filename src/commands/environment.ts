import { showsMessages } from '../output/columns.ts';
import { generalFormats, type Format } from '../output/formats.ts';
import { Failure } from '../core/failure.ts';
import type { Environment } from '../core/system.ts';
import { editDistance } from '../schema/nearest.ts';
import { headerVariable, variablesOf } from '../schema/profile.ts';
import {
  alternatives,
  choiceField,
  countField,
  flagField,
  outputField,
  textField,
  type Field,
  type Fields,
} from '../schema/field.ts';
import type { CommandSurface } from './surface.ts';

/**
 * Options of every command (docs/internals/architecture.md, Output). Each has a twin, a variable CHATELAINE_… that
 * does the same.
 */
export const globalOptions = {
  output: {
    kind: 'string',
    short: 'o',
    choices: generalFormats,
    help: `${alternatives(generalFormats)}; excel is csv for a spreadsheet, excel-semicolon for one whose decimal sign is a comma; messages fetch also has text, dry runs curl, and the plan of license apply markdown (default: table on a terminal, tsv in a pipe)`,
    placeholder: 'FORMAT',
  },
  json: flagField('Same as -o json'),
  fields: { ...textField('a,b', 'Only these columns (or keys of JSON), in this order'), list: true },
  sort: textField('FIELD', 'Sort a list by a column or key, numbers as numbers; --sort=-FIELD in reverse'),
  count_by: textField(
    'FIELD',
    'Count a list: a row for each value of a column or key, most first; times by FIELD:day, :week, :month or :year, in their order',
  ),
  jq: textField(
    'EXPR',
    'Filter the JSON of the result with jq, whatever -o says; strings are printed raw, one result per line',
  ),
  header: { ...flagField('Print the header line of table, csv, tsv and excel (default: yes)'), negatable: true },
  quiet: { kind: 'boolean', short: 'q', help: 'Print no progress or notes; of a license, only the key' },
  verbose: { kind: 'boolean', short: 'v', help: 'Log requests, waits and retries to stderr' },
  trace: flagField('Show requests and responses on stderr, without secrets'),
  log: outputField(
    'FILE',
    'Append requests, responses and waits to a file, one JSON object per line, without secrets and license codes',
  ),
  color: choiceField(['auto', 'always', 'never'], 'WHEN', 'Colour: auto, always or never (default: auto)'),
  input: {
    ...flagField('Ask questions on the terminal, even if standard input is a pipe (default: yes; no if CI is set)'),
    negatable: true,
  },
  yes: {
    ...flagField('Answer yes when a command asks whether to continue; topic delete still needs --confirm'),
    short: 'y',
  },
  dry_run: {
    ...flagField(
      'Change nothing; show the plan, or the requests of a command without one; -o curl prints them as curl commands',
    ),
    short: 'n',
  },
  profile: {
    ...textField('NAME', 'The stored credential to use (default: see auth use)'),
    short: 'p',
    suggest: 'profiles',
  },
  sandbox: flagField('Run against the embedded sandbox: nothing to start, nothing to sign in to'),
  timeout: {
    kind: 'duration',
    min: 1,
    placeholder: 'DURATION',
    help: 'Time limit of one request (default: 30s; messages 60s; topic deletion 75s)',
  },
  deadline: { kind: 'duration', placeholder: 'DURATION', help: 'Time limit of the command (default: none)' },
  retries: {
    ...countField('N', 'How often to repeat a request that is safe to repeat (default: 5)'),
    min: 0,
    max: 100,
  },
  ca_file: {
    kind: 'string',
    placeholder: 'FILE',
    help: 'Also trust these certificates (PEM); auth login stores the path in the profile',
  },
} as const satisfies Fields;

export const defaultRetries = 5;

export type GlobalOption = keyof typeof globalOptions;

/** The formats that a command offers besides those of every command. */
export function ownFormats({ dryRun = [], show }: Pick<CommandSurface, 'dryRun' | 'show'>): readonly Format[] {
  return [
    ...(showsMessages(show) ? (['text'] as const) : []),
    ...(dryRun.includes('requests') ? (['curl'] as const) : []),
    ...(dryRun.includes('rows') && show?.outcome?.columns ? (['markdown'] as const) : []),
  ];
}

export function twinOf(name: string): string {
  return `CHATELAINE_${name.toUpperCase()}`;
}

/** An option's variable, and CHATELAINE_NO_… of a switch with --no-…; --yes has none: it answers for one run. */
export function twinsOf(name: string, field: Field): readonly string[] {
  if (name === 'yes') return [];
  return [twinOf(name), ...(field.kind === 'boolean' && field.negatable ? [twinOf(`no_${name}`)] : [])];
}

/** All other variables of ours, which belong to no option and no credential; the manual lists them. */
export const variables = {
  CHATELAINE_LEDGER: 'URL of a ledger that several machines share: postgres://ROLE@HOST/DATABASE, without a password',
  CHATELAINE_READ_ONLY: '1, true or yes: every write is refused, whatever the profile',
  CHATELAINE_ALLOW_HTTP:
    'HOST or HOST:PORT of the one server beyond this computer to which a key may be sent over plain http',
  CHATELAINE_HOLD: 'FILE of topics that topic delete never deletes, in addition to --hold',
  [headerVariable]:
    'File of lines NAME: VALUE to add to each request that uses the credentials of the environment, for an access proxy',
  CHATELAINE_CONFIG_DIR: 'Absolute path of the folder for config.json and credentials.json',
  CHATELAINE_NO_CACHE: '1: the compiled program is neither read from nor written to the cache folder',
} as const;

/** True if a variable that protects a whole job is set. @throws Failure config for another value */
export function isGuarded(env: Environment, name: 'CHATELAINE_DRY_RUN' | 'CHATELAINE_READ_ONLY'): boolean {
  const text = env[name] ?? '';
  if (/^(1|true|yes)$/i.test(text)) return true;
  if (/^(|0|false|no)$/i.test(text)) return false;
  throw new Failure('config', `${name}: '${text}' is neither true nor false`, { hint: 'Set it to true, or unset it.' });
}

/** Unknown variables that begin with CHATELAINE_, each with the one that it may be a typo of. */
export function unknownVariables(env: Environment): readonly { readonly name: string; readonly meant?: string }[] {
  const twins = Object.entries<Field>(globalOptions).flatMap(([name, field]) => twinsOf(name, field));
  const credentials = [...Object.keys(variablesOf('licensing')), ...Object.keys(variablesOf('chat'))];
  const ours = [...twins, ...Object.keys(variables), ...credentials];
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('CHATELAINE_') || ours.includes(name)) return [];
    const meant = ours.find((one) => editDistance(name, one) === 1);
    return [{ name, ...(meant !== undefined && { meant }) }];
  });
}

/** Warns of typos in variables. @throws Failure config for a typo in a guard or a credential */
export function refuseTypos(env: Environment, warn: (text: string) => void): void {
  for (const { name, meant } of unknownVariables(env)) {
    if (meant === undefined) continue;
    const text = `${name} is not a variable of chatelaine; did you mean ${meant}?`;
    if (!guards.test(meant) && !(meant in { ...variablesOf('licensing'), ...variablesOf('chat') })) warn(text);
    else throw new Failure('config', text, { hint: 'Rename it, or unset it. Nothing was sent.' });
  }
}

const guards = /^CHATELAINE_(DRY_RUN|READ_ONLY|SANDBOX|HOLD|LEDGER|PROFILE|HEADER_FILE)$/;
