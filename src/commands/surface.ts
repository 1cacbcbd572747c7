import type { Show } from '../output/show.ts';
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
  /** It sends requests that change something, which a dry run shows, with -o curl as lines of curl. */
  readonly writes?: true;
  readonly fields?: readonly string[];
  readonly show?: Show<unknown>;
}
