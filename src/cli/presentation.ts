import type { AnyCommand } from '../commands/command.ts';
import { ownFormats } from '../commands/environment.ts';
import { usage } from '../core/failure.ts';
import { cellsOf, cellText } from '../output/columns.ts';
import { formats, rowOf, wholeFormats } from '../output/formats.ts';
import { fitted, plainLines } from '../output/plain.ts';
import type { FormatRow, Presentation, Show } from '../output/presentation.ts';
import { hasColor } from '../output/style.ts';
import { alternatives } from '../schema/field.ts';
import { fieldCheck, namesIn, type FieldCheck } from './fields.ts';
import type { Options } from './values.ts';
import type { Host } from './host.ts';

/** How a run prints, decided before it begins. */
interface RunPresentation {
  /** What the command sees of its options: without those that do not apply to what it prints. */
  readonly options: Options;
  readonly result: Presentation;
  /** Of the requests that a dry run does not send; absent where the command's own rows are printed. */
  readonly plan: Presentation | undefined;
  readonly checkFields: FieldCheck;
}

/** What a presentation needs of the host. */
interface PrintedTo {
  readonly system: Pick<Host['system'], 'env'>;
  readonly stdout: Pick<Host['stdout'], 'isTTY' | 'columns'>;
}

/**
 * How a command prints (docs/architecture.md, Output): nothing else decides it.
 * @throws Failure usage where an option was typed that does not apply to what the command prints
 */
export function presentationOf(command: AnyCommand, typed: Options, host: PrintedTo): RunPresentation {
  const applying = applicable(command, typed);
  const options = formatted(applying.jq === undefined ? applying : { ...applying, output: 'json' as const });
  const hasPlan = options.dry_run === true && (options.output === 'curl' || !command.dryRun?.includes('rows'));
  return {
    options,
    result: presented(command, options, host),
    plan: hasPlan ? planPresented(options, host) : undefined,
    checkFields: fieldCheck(command, options, hasPlan ? planColumns : []),
  };
}

/** The environment holds for all commands, so what it sets is ignored where it does not apply. */
function applicable(command: AnyCommand, options: Options): Options {
  if (command.result === 'text' || command.result === 'json text') return applicableToText(command, options);
  return command.show?.text ? applicableToValue(command, options) : options;
}

/** A text has no order; columns only where the command names their fields; and a filter only where it is JSON. */
function applicableToText({ name, result, fields: own }: AnyCommand, options: Options): Options {
  const { jq, fields, sort: _, ...others } = options;
  const isJson = result === 'json text';
  const applies = { output: true, fields: own !== undefined, jq: isJson, sort: false };
  const strange = looks.find((look) => options.typed.has(look) && !applies[look]);
  if (strange !== undefined)
    throw usage(
      `${name} prints its text unchanged: --${strange} does not apply`,
      isJson ? 'Use --jq EXPR on JSON.' : 'Leave it out.',
    );
  return {
    ...others,
    ...(applies.jq && jq !== undefined && { jq }),
    ...(applies.fields && fields !== undefined && { fields }),
  };
}

const looks = ['output', 'fields', 'jq', 'sort'] as const;

/** A text without a header is printed, unless the whole value is asked for. */
function applicableToValue({ name }: AnyCommand, options: Options): Options {
  const { fields, ...others } = options;
  const { output, jq, typed } = options;
  const isWhole = jq !== undefined || rowOf(output)?.ofPlan || rowOf(output)?.whole;
  const strange = looks.find((look) => typed.has(look) && (look === 'fields' || (look === 'output' && !isWhole)));
  if (strange !== undefined)
    throw usage(
      `${name} prints text without columns: --${strange} ${(strange === 'fields' ? fields : output) ?? ''} does not apply`,
      `Leave it out, or choose -o ${alternatives(wholeFormats)} for all fields.`,
    );
  return others;
}

/** @throws Failure usage where a format of dry runs is typed without one, or fields for a format that has none */
function formatted(options: Options): Options {
  const { output = '', dry_run, typed, fields } = options;
  const { ofPlan, shows } = rowOf(output) ?? {};
  if (ofPlan && !dry_run) {
    if (typed.has('output')) throw usage(`-o ${output} shows what a dry run would change`, 'Add --dry-run.');
    const { output: _, ...others } = options;
    return others;
  }
  if (shows === undefined || fields === undefined) return options;
  if (!typed.has('fields')) {
    const { fields: _, ...others } = options;
    return others;
  }
  throw usage(`-o ${output} shows ${shows}, which have no fields`, 'Leave out --fields.');
}

function presented({ result, ...command }: Presented, options: Options, host: PrintedTo): Presentation {
  const { system, stdout } = host;
  const terminal = stdout.isTTY === true;
  const fields = options.fields === undefined ? undefined : namesIn(options.fields);
  const { show = {} } = command;
  const format = formatOf(options, stdout, command);
  return {
    show,
    format,
    isText: result === 'text' || result === 'json text',
    sentence: sentenceOf(show, format, { fields, terminal, width: stdout.columns ?? 0, quiet: options.quiet ?? false }),
    fields,
    sort: options.sort,
    header: options.header ?? true,
    quiet: options.quiet ?? false,
    csvSafe: options.csv_safe ?? false,
    color: hasColor({ when: options.color, terminal, env: system.env }),
    terminal,
    width: stdout.columns ?? 0,
  };
}

type Presented = Pick<AnyCommand, 'show' | 'format' | 'result' | 'dryRun'>;

/** A result that does not offer the command's own format, such as the requests of a dry run, has its usual one. */
function formatOf({ output, fields }: Options, { isTTY }: PrintedTo['stdout'], command: Presented): FormatRow {
  if (output !== undefined && (rowOf(output)?.general || ownFormats(command).includes(output))) return formats[output];
  if (!isTTY) return formats.tsv;
  return formats[(fields === undefined && command.format) || 'table'];
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
  const host = { system, stdout: { ...stdout, columns: 0 } };
  if (options.output === 'curl') {
    if (options.sandbox)
      throw usage(
        'the embedded sandbox ends with its command: no line of curl could reach it',
        'Run chatelaine sandbox serve, set the variables that it prints, and leave out --sandbox.',
      );
    return presented({ result: 'text' }, options, host);
  }
  const { fields: asked, ...others } = options;
  const fields = namesIn(asked).filter((name) => planColumns.includes(name));
  const chosen = { ...others, quiet: false, ...(fields.length > 0 && { fields: fields.join(',') }) };
  return presented({ show: planShow }, chosen, host);
}

/** The fields of a planned request. */
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
