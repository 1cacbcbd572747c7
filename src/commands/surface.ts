import type { OwnFormat } from '../output/formats.ts';
import type { Show } from '../output/presentation.ts';
import type { Fields } from '../schema/field.ts';
import type { UsageRule } from '../schema/usage-rules.ts';

/** What a command says of itself, for help, manual and `chatelaine commands`. */
export interface CommandSurface {
  /** Noun and verb, as typed. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** More for the manual: paragraphs. */
  readonly about?: readonly string[];
  /** A few lines of a file that it reads. */
  readonly input?: { readonly title: string; readonly lines: readonly string[] };
  readonly args?: Fields;
  readonly options?: Fields;
  /** Rules across arguments and options; those that depend on more than what was given are checked by `run`. */
  readonly rules?: readonly UsageRule[];
  /** Options that are the same in another command, whose help explains them. */
  readonly shared?: { readonly with: string; readonly options: Fields };
  /** Whole command lines; a test runs each against the sandbox. */
  readonly examples: readonly string[];
  /**
   * What shows in a dry run what it would change: the requests (with -o curl as lines), or rows of its own. Absent:
   * none.
   */
  readonly dryRun?: readonly ('requests' | 'rows')[];
  /**
   * What `run` gives beside a value or rows of a list: `one` row, shown at once; pieces of a `text`, printed unchanged;
   * those of a `json text`, which --jq filters; `rows` of a function that is no generator.
   */
  readonly result?: 'one' | 'rows' | 'one or rows' | 'text' | 'json text';
  /** A format beside those of every command; a terminal gets it where no format and no fields are asked for. */
  readonly format?: OwnFormat;
  /** What rows may hold beside the columns. With them it is the closed list of `--fields` and `--sort`. */
  readonly fields?: readonly string[];
  readonly show?: Show<unknown>;
  /** An async generator gives rows, any other function a value. */
  readonly run: (...given: never[]) => unknown;
}
