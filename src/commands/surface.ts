import type { Show } from '../output/presentation.ts';
import type { Fields } from '../schema/field.ts';
import type { UsageRule } from '../schema/usage-rules.ts';

/** Words and tables of a command, for help, manual and `chatelaine commands`. */
export interface CommandSurface {
  /** Noun and verb, as typed. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Paragraphs of help and manual below the summary. */
  readonly about?: readonly string[];
  /** A few lines of a file that the command reads. */
  readonly input?: { readonly title: string; readonly lines: readonly string[] };
  readonly args?: Fields;
  readonly options?: Fields;
  /** Rules across arguments and options; those that depend on more than what was given are checked by `run`. */
  readonly rules?: readonly UsageRule[];
  /** Whole command lines; a test runs each against the sandbox. */
  readonly examples: readonly string[];
  /** A dry run shows the requests that are not sent (with -o curl as lines), or its own rows; absent: no dry run. */
  readonly dryRun?: readonly ('requests' | 'rows')[];
  /** True for a command with `rows`: its result is a list, which comes row by row or at once. */
  readonly isList: boolean;
  /** `run` yields `one` row, shown at once; pieces of `text`, printed unchanged; or `json text`, which --jq filters. */
  readonly result?: 'one' | 'one or rows' | 'text' | 'json text';
  /** Fields that rows may have besides the columns; --fields and --sort accept these and the columns, and no others. */
  readonly fields?: readonly string[];
  readonly show?: Show<unknown>;
}
