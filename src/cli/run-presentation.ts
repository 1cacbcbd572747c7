import type { AnyCommand } from '../commands/command.ts';
import { isList, ownFormats, twinOf } from '../commands/environment.ts';
import { type Failure, usage } from '../core/failure.ts';
import { checkZone } from '../core/moment.ts';
import { defined, namesIn } from '../core/table-names.ts';
import { cellsOf, cellText, namesOf, rulesOf } from '../output/columns.ts';
import { formats, rowOf, wholeFormats } from '../output/formats.ts';
import { fitted, plainLines } from '../output/plain.ts';
import type { FormatRow, Presentation, Show } from '../output/presentation.ts';
import { countByOf } from '../output/sort.ts';
import { hasColor, hasUnicode } from '../output/style.ts';
import { alternatives } from '../schema/field.ts';
import { licenseColumns } from '../schema/license.ts';
import { suggestion } from '../schema/nearest.ts';
import type { Options } from './values.ts';
import type { Host } from './host.ts';

/** How a run prints, decided before it begins. */
interface RunPresentation {
  /** What the command sees of its options: without those that do not apply to what it prints. */
  readonly options: Options;
  readonly result: Presentation;
  /** Of the requests that a dry run does not send; absent where the command's own rows are printed. */
  readonly plan: Presentation | undefined;
  /**
   * Checks `--fields` and `--sort` against a command's closed list before anything is sent; only the answer tells where
   * a server may send any field. `fromFile` are the fields that the input file adds. @throws Failure usage
   */
  checkFields(fromFile: readonly string[]): void;
}

interface PrintedTo {
  readonly system: Pick<Host['system'], 'env'>;
  readonly stdout: Pick<Host['stdout'], 'isTTY' | 'columns'>;
}

/** How a command prints (docs/architecture.md, Output). @throws Failure usage for a typed option that does not apply */
export function presentationOf(command: AnyCommand, typed: Options, host: PrintedTo): RunPresentation {
  const options = applicable(command, typed);
  // license ensure prints a key or nothing where the whole job is a dry run.
  const isOfJob = command.show?.text !== undefined && !options.typed.has('dry_run');
  const hasPlan =
    options.dry_run === true && !isOfJob && (options.output === 'curl' || !command.dryRun?.includes('rows'));
  return {
    options,
    result: presented(command, options, host),
    plan: hasPlan ? planPresented(options, host) : undefined,
    checkFields(fromFile) {
      const strange = strangeNames(command, options, [...fromFile, ...(hasPlan ? planColumns : [])]);
      const own = [...new Set([...namesOf(command.show ?? {}), ...(command.fields ?? []), ...fromFile])];
      if (strange.length > 0 && command.show?.others !== 'any') throw noFields(strange, own, options);
    },
  };
}

/** The environment holds for all commands, so what it sets is ignored where it does not apply. */
function applicable(command: AnyCommand, given: Options): Options {
  const { output, fields, jq, sort, count_by: by, csv_safe, typed, ...others } = given;
  // What is typed counts, and not the environment.
  const isOther = !typed.has('count_by') && (typed.has('fields') || typed.has('sort'));
  const looks = { output, fields, jq, sort, csv_safe, count_by: isOther ? undefined : by };
  for (const [look, why, hint] of strangeLooks(command, { ...others, typed, ...defined(looks) })) {
    if (typed.has(look)) throw usage(why, hint);
    looks[look] = undefined;
  }
  const options = { ...others, typed, ...defined(looks) };
  return options.jq === undefined ? options : { ...options, output: 'json' };
}

type StrangeLook = readonly [
  look: 'output' | 'fields' | 'jq' | 'sort' | 'count_by' | 'csv_safe',
  why: string,
  hint: string,
];

function strangeLooks(
  { name, fields: own, show, ...command }: AnyCommand,
  { output, fields, jq, count_by, csv_safe, dry_run }: Options,
): readonly StrangeLook[] {
  const strange: StrangeLook[] = [];
  // An --output of the command's own is judged by the command.
  if (csv_safe && output !== 'csv' && !('output' in (command.options ?? {})))
    strange.push(['csv_safe', '--csv-safe applies to csv only', 'Add -o csv.']);
  const { result } = command;
  const row = rowOf(output);
  if (count_by !== undefined && !isList(command))
    strange.push(['count_by', `${name} is no list: --count-by does not apply`, 'Leave it out.']);
  else if (count_by !== undefined) {
    const hint = 'Leave one of them out.';
    for (const look of ['fields', 'sort'] as const)
      strange.push([look, `--count-by and --${look} exclude each other`, hint]);
    if (row?.shows !== undefined) strange.push(['output', `-o ${output ?? ''} shows no counts`, hint]);
  }
  // A text has no order; columns only where the command names their fields; and a filter only where it is JSON.
  if (result === 'text' || result === 'json text') {
    const hint = result === 'text' ? 'Leave it out.' : 'Use --jq EXPR on JSON.';
    const applies = { fields: own !== undefined, jq: result === 'json text', sort: false };
    for (const look of namesIn(applies))
      if (!applies[look]) strange.push([look, `${name} prints its text unchanged: --${look} does not apply`, hint]);
  } else if (show?.text) {
    // A text without a header is printed, unless the whole value is asked for.
    const isWhole = jq !== undefined || row?.ofPlan || row?.whole;
    const hint = `Leave it out, or choose -o ${alternatives(wholeFormats)} for all fields.`;
    const why = (option: string): string => `${name} prints text without columns: --${option} does not apply`;
    if (!isWhole) strange.push(['output', why(`output ${output ?? ''}`), hint]);
    strange.push(['fields', why(`fields ${fields ?? ''}`), hint]);
  }
  const isFiltered = jq !== undefined && result !== 'text';
  if (row?.ofPlan && !dry_run && !isFiltered)
    strange.push(['output', `-o ${output ?? ''} shows what a dry run would change`, 'Add --dry-run.']);
  else if (row?.shows !== undefined && !isFiltered)
    strange.push(['fields', `-o ${output ?? ''} shows ${row.shows}, which have no fields`, 'Leave out --fields.']);
  return strange;
}

function presented({ result, ...command }: Presented, options: Options, host: PrintedTo): Presentation {
  const { system, stdout } = host;
  const countBy = options.count_by === undefined ? undefined : countByOf(options.count_by);
  if (countBy?.unit) checkZone(system.env);
  const terminal = stdout.isTTY === true;
  const fields = options.fields === undefined ? undefined : fieldsIn(options.fields);
  const show = options.dry_run ? ofPlan(command.show ?? {}) : (command.show ?? {});
  const format = formatOf(options, stdout, command);
  return {
    show,
    format,
    isText: result === 'text' || result === 'json text',
    sentence: countBy
      ? undefined
      : sentenceOf(show, format, { fields, terminal, width: stdout.columns ?? 0, quiet: options.quiet ?? false }),
    fields,
    sort: options.sort,
    countBy,
    barMark: hasUnicode(system.env) ? '█' : '#',
    header: options.header ?? true,
    quiet: options.quiet ?? false,
    csvSafe: options.csv_safe ?? false,
    color: hasColor({ when: options.color, terminal, env: system.env }),
    terminal,
    width: stdout.columns ?? 0,
  };
}

/** A plan says what becomes of users: a key that is there already may go where the room is small, whole. */
function ofPlan(show: Show<unknown>): Show<unknown> {
  const [key] = licenseColumns;
  const columns = show.columns?.map((column) =>
    column === key || rulesOf(show, key) === column
      ? { ...rulesOf(show, key), name: key, keep: 0, width: Infinity }
      : column,
  );
  return { ...show, ...(columns && { columns }) };
}

type Presented = Pick<AnyCommand, 'show' | 'format' | 'result' | 'dryRun'>;

/** A result that does not offer the command's own format, such as the requests of a dry run, has its usual one. */
function formatOf(
  { output, fields, count_by }: Options,
  { isTTY }: PrintedTo['stdout'],
  command: Presented,
): FormatRow {
  if (output !== undefined && (rowOf(output)?.general || ownFormats(command).includes(output))) return formats[output];
  if (!isTTY) return formats.tsv;
  return formats[(fields === undefined && count_by === undefined && command.format) || 'table'];
}

/** The text that is printed for each row in place of its format, where there is one. */
function sentenceOf(
  { text, quiet, line }: Show<unknown>,
  format: FormatRow,
  chosen: Pick<Presentation, 'fields' | 'terminal' | 'width'> & { readonly quiet: boolean },
): Presentation['sentence'] {
  if (format.whole) return undefined;
  const alone = text ?? (chosen.quiet ? quiet : undefined);
  if (alone) return chosen.terminal ? (row) => plainLines(alone(row)) : alone;
  if (!line || format !== formats.table || chosen.fields) return undefined;
  return (row) => fitted(plainLines(line(row)), chosen.terminal ? chosen.width : 0);
}

/** The requests of a dry run: rows of their own fields, or with -o curl lines of curl, which bash can run. */
function planPresented(options: Options, { system, stdout }: PrintedTo): Presentation {
  // Of no width, since a request that is cut or wrapped is not the exact one.
  const host = { system, stdout: { isTTY: stdout.isTTY === true, columns: 0 } };
  if (options.output === 'curl') {
    if (options.sandbox)
      throw usage(
        'the embedded sandbox ends with its command: no line of curl could reach it',
        'Run chatelaine sandbox serve, set the variables that it prints, and leave out --sandbox.',
      );
    return presented({ result: 'text' }, options, host);
  }
  const { fields: asked, ...others } = options;
  const fields = fieldsIn(asked).filter((name) => planColumns.includes(name));
  const chosen = { ...others, quiet: false, ...(fields.length > 0 && { fields: fields.join(',') }) };
  return presented({ show: planShow }, chosen, host);
}

const planColumns: readonly string[] = ['method', 'url', 'content_type', 'body'];

const planShow: Show<unknown> = {
  columns: planColumns,
  others: 'known',
  line: (row) =>
    cellsOf(row, [...planColumns, 'headers'], undefined)
      .map((cell) => cellText(cell))
      .filter((text) => text !== '')
      .join(' '),
};

function fieldsIn(fields: string | undefined): readonly string[] {
  return fields?.split(',').map((name) => name.trim()) ?? [];
}

/** Names of `--fields` and `--sort` that the command does not know. */
export function strangeNames(
  { show, fields: beside = [] }: AnyCommand,
  { fields, sort, count_by }: Options,
  others: readonly string[],
): readonly string[] {
  const counted = count_by === undefined ? [] : [countByOf(count_by).field];
  const asked = new Set([...fieldsIn(fields), ...(sort === undefined ? [] : [sort.replace(/^-/, '')]), ...counted]);
  const known = [...namesOf(show ?? {}), ...beside, ...others];
  return [...asked].filter((name) => !known.includes(name));
}

export function noFields(strange: readonly string[], known: readonly string[], options: Options): Failure {
  const near = strange.flatMap((name) => suggestion(name, known) ?? []);
  return usage(
    strange.map((name) => `no field '${name}' in the result`),
    [...near, `${whereFrom(options)}Its fields are ${known.join(', ')}.`].join(' '),
  );
}

/** Names the variables, which hold for all commands and are easily forgotten. */
function whereFrom({ fields, sort, count_by, typed }: Options): string {
  const given = { fields, sort, count_by };
  const set = (['fields', 'sort', 'count_by'] as const).filter((look) => given[look] !== undefined && !typed.has(look));
  return set.length === 0 ? '' : `See ${set.map(twinOf).join(' and ')} in the environment. `;
}
