import fc, { type StringConstraints } from 'fast-check';

const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/**
 * Texts of any characters but halves of pairs. fast-check's own unit for them, `binary`, first makes a table of the
 * million: half a second of CPU time in each process of tests.
 */
export const anyText = (length: Pick<StringConstraints, 'maxLength'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...length, unit: character });
