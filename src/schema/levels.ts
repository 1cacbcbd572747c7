/**
 * Feature levels of the chat server at which words of a narrow changed (docs/apis.md, Feature levels). The level of a parameter is
 * in its row, that of a call beside its table.
 */
export const narrowLevels = {
  /** A number as the operand of `id`. */
  integerId: 194,
  /** `channel` for `stream`, `channels` for `streams`. */
  channel: 250,
} as const;

/** Operands that are younger than their operator. */
export const operandLevels: Readonly<Record<string, number>> = {
  'is:followed': 265,
  'is:muted': 366,
  'has:reaction': 249,
  'channels:archived': 489,
};
