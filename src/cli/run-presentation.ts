import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context.ts';
import { ownFormats, twinOf } from '../commands/environment.ts';
import { usage, type Failure } from '../core/failure.ts';
import { checkZone } from '../core/moment.ts';
import { defined, namesIn } from '../core/table-names.ts';
import { cellsOf, cellText, namesOf, showsMessages } from '../output/columns.ts';
import { formats, planFormat, rowOf, wholeFormats } from '../output/formats.ts';
import { fit, hasColor, plainLines } from '../output/plain.ts';
import type { FormatRow, Presentation, Show } from '../output/presentation.ts';
import { countByOf, orderOf } from '../output/sort.ts';
import { alternatives } from '../schema/field.ts';
import { suggestion } from '../schema/nearest.ts';
import type { Host } from './host.ts';

/** How a run prints, decided before it begins. */
export type RunPresentation = ReturnType<typeof presentationOf>;

interface PrintedTo {
  readonly system: Pick<Host['system'], 'env'>;
  readonly stdout: Pick<Host['stdout'], 'isTTY' | 'columns'>;
}

/**
 * How a command prints (docs/internals/architecture.md, Output).
 * @throws Failure usage for an option on the command line that does not apply
 */
export function presentationOf(command: AnyCommand, typed: GlobalValues, host: PrintedTo) {
  const { show = {}, fields: beside = [], dryRun = [] } = command;
  const options = applicableOptions(command, typed);
  const looks = looksOf(options, host);
  const isText = command.result === 'text' || command.result === 'json text';
  const result = present({ ...command, show }, options, { ...looks, isText });
  // license ensure prints a key or nothing where the whole job is a dry run.
  const isOfJob = show.text !== undefined && !options.typed.has('dry_run');
  const hasPlan = options.dry_run === true && !isOfJob && (options.output === 'curl' || !dryRun.includes('rows'));
  const order = [looks.sort && orderOf(looks.sort).field, looks.countBy?.field].filter((name) => name !== undefined);
  const unknownBeside = (knownFields: readonly string[]): readonly string[] =>
    [...new Set([...(looks.fields ?? []), ...order])].filter((name) => !knownFields.includes(name));
  const commandFields = [...namesOf(show), ...beside];
  const noFields = (unknownFields: readonly string[], knownFields: readonly string[]): Failure => {
    const near = unknownFields.flatMap((name) => suggestion(name, knownFields) ?? []);
    return usage(
      unknownFields.map((name) => `no field '${name}' in the result`),
      [...near, `${whereFrom(options)}Its fields are ${knownFields.join(', ')}.`].join(' '),
    );
  };
  return {
    /** The options as the command sees them: without those that do not apply to what it prints. */
    options,
    result:
      !isOfJob && showsPlan(show, options, looks) ? { ...result, format: planFormat, sentence: undefined } : result,
    /** How the requests of a dry run are printed; undefined where the command's own rows are. */
    plan: hasPlan ? presentPlan(options, looks) : undefined,
    /** Requested fields that the server's rows may have, which only the response shows. */
    open: show.others === 'any' ? unknownBeside(commandFields) : [],
    noFields,
    /** Checks fields before anything is sent; `fromFile`: those that the input file adds. @throws Failure usage */
    checkFields(fromFile: readonly string[]): void {
      const knownFields = [...new Set([...commandFields, ...fromFile])];
      const unknownFields = unknownBeside([...knownFields, ...(hasPlan ? planColumns : [])]);
      if (unknownFields.length > 0 && show.others !== 'any') throw noFields(unknownFields, knownFields);
    },
  };
}

/** The environment holds for all commands, so what it sets is ignored where it does not apply. */
function applicableOptions(command: AnyCommand, given: GlobalValues): GlobalValues {
  const { output, fields, jq, sort, count_by: countBy, typed, ...otherOptions } = given;
  // --fields and --sort on the command line override a count_by of the environment.
  const isOther = !typed.has('count_by') && (typed.has('fields') || typed.has('sort'));
  const looks = { output, fields, jq, sort, count_by: isOther ? undefined : countBy };
  for (const [look, why, hint] of inapplicableLooks(command, { ...otherOptions, typed, ...defined(looks) })) {
    if (typed.has(look)) throw usage(why, hint);
    looks[look] = undefined;
  }
  const options = { ...otherOptions, typed, ...defined(looks) };
  return options.jq === undefined ? options : { ...options, output: 'json' };
}

type InapplicableLook = readonly [look: 'output' | 'fields' | 'jq' | 'sort' | 'count_by', why: string, hint: string];

function inapplicableLooks(
  { name, fields: commandFields, show, isList, result }: AnyCommand,
  { output, fields, jq, count_by, dry_run }: GlobalValues,
): readonly InapplicableLook[] {
  const refused: InapplicableLook[] = [];
  const row = rowOf(output);
  if (count_by !== undefined && !isList && result !== 'one or rows')
    refused.push(['count_by', `${name} does not print a list: --count-by does not apply`, 'Leave it out.']);
  else if (count_by !== undefined) {
    const hint = 'Leave one of them out.';
    for (const look of ['fields', 'sort'] as const)
      refused.push([look, `--count-by and --${look} exclude each other`, hint]);
    if (row?.shows !== undefined) refused.push(['output', `-o ${output ?? ''} shows no counts`, hint]);
  }
  // A text has no order, it has columns only where the command names fields, and a filter only where it is JSON.
  if (result === 'text' || result === 'json text') {
    const hint = result === 'text' ? 'Leave it out.' : 'Use --jq EXPR on JSON.';
    const applies = { fields: commandFields !== undefined, jq: result === 'json text', sort: false };
    for (const look of namesIn(applies))
      if (!applies[look]) refused.push([look, `${name} prints its text unchanged: --${look} does not apply`, hint]);
  } else if (show?.text) {
    // A text without a header is printed, unless the complete value is requested.
    const isWhole = jq !== undefined || row?.ofPlan || row?.whole;
    const hint = `Leave it out, or choose -o ${alternatives(wholeFormats)} for all fields.`;
    const why = (option: string): string => `${name} prints text without columns: --${option} does not apply`;
    if (!isWhole) refused.push(['output', why(`output ${output ?? ''}`), hint]);
    refused.push(['fields', why(`fields ${fields ?? ''}`), hint]);
  }
  const isFiltered = jq !== undefined && result !== 'text';
  if (row?.ofPlan && !dry_run && !isFiltered)
    refused.push(['output', `-o ${output ?? ''} shows what a dry run would change`, 'Add --dry-run.']);
  else if (row?.shows !== undefined && !isFiltered)
    refused.push(['fields', `-o ${output ?? ''} shows ${row.shows}, which have no fields`, 'Leave out --fields.']);
  return refused;
}

type Looks = Omit<Presentation, 'show' | 'format' | 'sentence'>;

function looksOf(options: GlobalValues, { system, stdout }: PrintedTo): Looks {
  const { fields, sort, count_by, header = true, quiet = false, color } = options;
  const countBy = count_by === undefined ? undefined : countByOf(count_by);
  if (countBy?.unit) checkZone(system.env);
  const terminal = stdout.isTTY === true;
  const names = fields?.split(',').map((name) => name.trim());
  const isColored = hasColor({ when: color, terminal, env: system.env });
  const width = stdout.columns ?? 0;
  return { fields: names, sort, countBy, header, quiet, terminal, color: isColored, width };
}

type Presented = Pick<AnyCommand, 'dryRun'> & { readonly show: Show<unknown> };

function present(printed: Presented, { output }: GlobalValues, looks: Looks): Presentation {
  const { show } = printed;
  const isFormat = output !== undefined && (rowOf(output)?.general || ownFormats(printed).includes(output));
  const usual = !looks.fields && !looks.countBy && showsMessages(show) ? formats.text : formats.table;
  // A result that does not offer the command's own format, such as the requests of a dry run, has its usual one.
  const format: FormatRow = isFormat ? formats[output] : looks.terminal ? usual : formats.tsv;
  return { ...looks, show, format, sentence: looks.countBy ? undefined : sentenceOf(show, format, looks) };
}

/** True for a dry run that shows the plan, as the question of its command does, since nobody chose a format. */
function showsPlan({ outcome, text }: Show<unknown>, { dry_run, output }: GlobalValues, looks: Looks): boolean {
  const isChosen = output !== undefined || [looks.fields, looks.sort, looks.countBy].some((look) => look !== undefined);
  return dry_run === true && outcome?.plan !== undefined && !isChosen && (looks.terminal || text !== undefined);
}

/** The function whose text is printed for each row in place of the format; undefined where the format is used. */
function sentenceOf(
  { text, quiet, line }: Show<unknown>,
  format: FormatRow,
  looks: Pick<Looks, 'fields' | 'terminal' | 'width' | 'quiet'>,
): Presentation['sentence'] {
  if (format.whole) return undefined;
  const alone = text ?? (looks.quiet ? quiet : undefined);
  if (alone) return looks.terminal ? (row) => plainLines(alone(row)) : alone;
  if (!line || format !== formats.table || looks.fields) return undefined;
  return (row) => fit(plainLines(line(row)), looks.terminal ? looks.width : 0);
}

/** The requests of a dry run: rows of their own fields, or with -o curl lines of curl, which bash can run. */
function presentPlan(options: GlobalValues, looks: Looks): Presentation {
  if (options.output === 'curl' && options.sandbox)
    throw usage(
      'the embedded sandbox ends with its command, so curl could not reach it',
      'Run chatelaine sandbox serve, set the variables that it prints, and leave out --sandbox.',
    );
  const fields = looks.fields?.filter((name) => planColumns.includes(name));
  // The plan has no width, since a request that is cut or wrapped is not the exact one.
  const exact = { ...looks, width: 0, quiet: false, fields: fields?.length ? fields : undefined };
  return present({ show: planShow }, options, { ...exact, isText: options.output === 'curl' });
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

/** Names the variables that set these options, since people forget them. */
function whereFrom(given: GlobalValues): string {
  const looks = ['fields', 'sort', 'count_by'] as const;
  const set = looks.filter((look) => given[look] !== undefined && !given.typed.has(look));
  return set.length === 0 ? '' : `See ${set.map(twinOf).join(' and ')} in the environment. `;
}
