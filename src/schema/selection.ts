import type { Milliseconds } from '../core/duration.ts';
import { isObject } from '../core/json.ts';

/** Which messages, how many and in which form, as `messages fetch` and `archive pull` read it from the command line. */
export interface MessageSelection {
  /** The narrow as sent; empty selects everything that the account received. */
  readonly narrow: readonly unknown[];
  /** Parameters of a request that say how messages are shown. */
  readonly form: {
    readonly client_gravatar?: boolean | undefined;
    readonly apply_markdown?: boolean | undefined;
    readonly allow_empty_topic_name?: boolean | undefined;
  };
  readonly range: Range;
  /** The parameters of the range that were typed: paging adds others of its own. */
  readonly explicit?: readonly string[];
}

export type Range =
  | {
      readonly kind: 'request';
      readonly anchor: string;
      readonly num_before: number;
      readonly num_after: number;
      readonly include_anchor?: boolean;
    }
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'newest'; readonly limit: number }
  | { readonly kind: 'pages'; readonly anchor: string; readonly limit?: number; readonly include_anchor?: boolean }
  | ({ readonly kind: 'times' } & TimeSpan);

/** `since` ≤ time < `until`. With a limit the first messages from `since` on; without `since` the last ones. */
export interface TimeSpan {
  readonly since?: Milliseconds | undefined;
  readonly until?: Milliseconds | undefined;
  readonly limit?: number | undefined;
  /** The same times by the server's clock, once a response has shown that. @throws Failure usage */
  readonly correct?: () => Pick<TimeSpan, 'since' | 'until'>;
}

/** The channels that a narrow names in terms that are not negated. */
export function channelsIn(narrow: readonly unknown[] = []): (number | string)[] {
  const operands = [...operandsIn(narrow, 'channel'), ...operandsIn(narrow, 'stream')];
  return operands.filter((operand) => typeof operand === 'number' || typeof operand === 'string');
}

/** The operands of a narrow's terms with that operator, without negated terms. */
export function operandsIn(narrow: readonly unknown[], operator: string): unknown[] {
  const terms = narrow.filter((term) => !isObject(term) || term['negated'] !== true).map(partsOf);
  return terms.flatMap(([name, operand]) => (name === operator ? [operand] : []));
}

/** Operator and operand of a term, which is an object or a pair. */
export function partsOf(term: unknown): readonly [unknown, unknown] {
  if (Array.isArray(term)) return [term[0], term[1]];
  return isObject(term) ? [term['operator'], term['operand']] : [undefined, undefined];
}
