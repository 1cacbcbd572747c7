import { expect, test } from 'vitest';
import { failuresOf } from '../../scripts/manual/exits.ts';
import { commandTable } from '../../src/commands/index.ts';
import { failures } from '../../src/core/failure.ts';

const all = Object.keys(failures);

test('a reading command never says that a write is unconfirmed', () => {
  expect(failuresOf('license list')).not.toContain('unknown');
  expect(failuresOf('license list')).toEqual(expect.arrayContaining(['usage', 'auth', 'incomplete', 'cancelled']));
});

test('a command that asks no server cannot be refused by one', () => {
  expect(failuresOf('settings list')).toEqual(['internal', 'usage', 'config', 'hangup', 'cancelled', 'terminated']);
});

test('the list of every command is in the order of the exit codes', () => {
  for (const { name } of commandTable) {
    const own = failuresOf(name);
    expect(own, name).toEqual(all.filter((kind) => (own as readonly string[]).includes(kind)));
  }
});

test('a command that is not in the table may fail in every way', () => {
  expect(failuresOf('license polish')).toEqual(all);
});
