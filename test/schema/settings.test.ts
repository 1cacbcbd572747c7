import { expect, test } from 'vitest';
import type { Field } from '../../src/schema/field.ts';
import { settings } from '../../src/schema/settings.ts';
import { settingLevels } from '../contract/specification.ts';

test('each setting came with the level that the specification says', () => {
  const found = Object.entries<Field>(settings).flatMap(([name, { level }]) =>
    level === undefined ? [] : [[name, level]],
  );
  expect(Object.fromEntries(found)).toEqual({ ...settingLevels, enter_sends: 81 });
});
