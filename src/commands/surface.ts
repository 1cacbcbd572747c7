import type { OwnFormat } from '../output/formats.ts';
import type { Show } from '../output/presentation.ts';
import type { Fields } from '../schema/field.ts';

/** A few lines of a file, shown in help and manual. */
export interface InputSample {
  readonly title: string;
  readonly lines: readonly string[];
}

/** What a command says of itself, for help, manual and `chatelaine commands`. */
export interface CommandSurface {
  /** Noun and verb, as typed. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly about?: readonly string[];
  readonly input?: InputSample;
  readonly args?: Fields;
  readonly options?: Fields;
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
  readonly fields?: readonly string[];
  readonly show?: Show<unknown>;
  /** An async generator gives rows, any other function a value. */
  readonly run: (...given: never[]) => unknown;
}
