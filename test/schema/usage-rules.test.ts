import { expect, test } from 'vitest';
import { globalOptions } from '../../src/commands/environment.ts';
import { commandTable } from '../../src/commands/index.ts';
import { flagField, textField } from '../../src/schema/field.ts';
import { checkRules, type UsageRule } from '../../src/schema/usage-rules.ts';

const fields = {
  a: flagField('a'),
  b_c: textField('B', 'b'),
  d: { ...textField('D', 'd'), flag: 'dd' },
  e: flagField('e'),
  f: { ...flagField('f'), negatable: true },
};

test.each<[string, UsageRule, Readonly<Record<string, unknown>>, string | undefined]>([
  ['needs what is not there', { option: 'a', needs: ['b_c'] }, { a: true }, '--a needs --b-c'],
  [
    'needs three of which one is there',
    { option: 'a', needs: ['b_c', 'd', 'e'] },
    { a: true, d: '' },
    '--a needs --b-c, --dd and --e',
  ],
  ['a switch that is off is not there', { option: 'a', needs: ['e'] }, { a: true, e: false }, '--a needs --e'],
  [
    'excludes what is off in words',
    { option: 'a', excludes: ['f'] },
    { a: true, f: false },
    '--a and --f exclude each other',
  ],
  ['excludes', { option: 'a', excludes: ['b_c', 'd'] }, { a: true, d: 'x' }, '--a and --dd exclude each other'],
  [
    'excludes in words of its own',
    { option: 'a', excludes: ['d'], say: (other) => `no ${other}` },
    { a: true, d: 'x' },
    'no --dd',
  ],
  ['excludes, and is not there', { option: 'a', excludes: ['d'] }, { d: 'x' }, undefined],
  ['needs, and is not there', { option: 'a', needs: ['d'] }, {}, undefined],
  ['none of one', { oneOf: ['a', 'b_c'], say: 'give one' }, {}, 'give one'],
  ['two of one', { oneOf: ['a', 'b_c'], say: 'give one' }, { a: true, b_c: '' }, 'give one'],
  ['one of one', { oneOf: ['a', 'b_c'], say: 'give one' }, { b_c: '' }, undefined],
])('%s', (_name, rule, values, expected) => {
  const check = (): void => checkRules([rule], fields, values);
  if (expected === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(expected);
});

test('a rule of a command names what it takes', async () => {
  const strange: string[] = [];
  for (const { name, load } of commandTable) {
    const { args = {}, options = {}, rules = [] } = await load();
    const known = Object.keys({ ...globalOptions, ...args, ...options });
    for (const rule of rules) {
      const names = 'oneOf' in rule ? rule.oneOf : [rule.option, ...('needs' in rule ? rule.needs : rule.excludes)];
      strange.push(...names.filter((one) => !known.includes(one)).map((one) => `${name}: ${one}`));
    }
  }
  expect(strange).toEqual([]);
});
