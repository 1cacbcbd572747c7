import { describe, expect, test } from 'vitest';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';
import type { Ran } from '../../helpers/run.ts';

/** A name is claimed before it is given: by whichever command, beside whichever other one. */
const people = ['ann', 'bob', 'cy', 'dee'];
const worldOf = (fault = '') => licensingWorld({}, fault, { seed: seedOf(people) });
type World = Awaited<ReturnType<typeof worldOf>>;

const ways: readonly (readonly [string, (key: number) => string])[] = [
  ['rename', (key) => `license rename ${people[key] ?? ''} new`],
  ['edit --remote-user', (key) => `license edit K-${key} --remote-user new`],
  [
    'edit --replace',
    (key) => `license edit K-${key} --replace --remote-user new --app-code 4711 --size-allowance ${4 + key}`,
  ],
];

const namedNew = ({ users }: World): number => users().filter((user) => user === 'new').length;
const codesOf = (ran: readonly Ran[]): number[] =>
  ran.map(({ exitCode }) => exitCode).sort((one, other) => one - other);

describe.each(ways)('%s to one name', (_way, lineOf) => {
  test.each(ways)('beside %s: one license has it, and the other command is refused', async (_other, otherLine) => {
    const world = await worldOf();
    const ran = await Promise.all([world.run(lineOf(0)), world.run(otherLine(1))]);
    expect(namedNew(world)).toBe(1);
    expect([0, 1]).toContain(codesOf(ran)[0]);
    expect([6, 7]).toContain(codesOf(ran)[1]);
    expect(codesOf(ran)[0]).toBe(0);
  });

  test.each(['license ensure --remote-user new --size-allowance 4', 'license apply - --size-allowance 4'])(
    'beside %s: one license has it',
    async (line) => {
      const world = await worldOf();
      const ran = await Promise.all([world.run(lineOf(0)), world.run(line, { stdin: 'new\n' })]);
      expect(namedNew(world)).toBe(1);
      expect(ran[1].exitCode, ran[1].stderr).toBe(0);
    },
  );

  test('a request without an answer that is carried out late: ensure waits for it, and finds the license', async () => {
    const world = await worldOf('PATCH *=delay-commit@3s,PUT *=delay-commit@3s');
    const { exitCode } = await world.run(`${lineOf(0)} --retries 0`);
    expect(exitCode).toBe(7);
    const ensured = await world.run('license ensure --remote-user new --size-allowance 4');
    expect([ensured.exitCode, ensured.stdout]).toEqual([0, 'K-0\n']);
    expect(namedNew(world)).toBe(1);
  });
});
