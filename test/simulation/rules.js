/**
 * Rules that keep what docs/exactly-once.md and the purge promise. Each is a place in src that the proof takes out (`npm run simulate --
 * --proof`): a history of its world must then do wrong, within 60 s of CPU.
 * @typedef {import('./bundle.js').Change & { readonly name: string, readonly world: string, readonly isWhole?: boolean }} Rule
 * @type {readonly Rule[]}
 */
export const rules = [
  {
    name: 'users of a dead process count as asked now',
    world: 'ensure',
    file: 'store/lock/local-claims.ts',
    from: 'const remembered = [...posted, ...abandoned.map((user): Posted => [user, now, now + remember])];',
    to: 'const remembered = [...posted];',
  },
];
