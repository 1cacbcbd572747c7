import { expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { behaviourOf } from '../../src/sandbox/serve-options.ts';

test('what is given of the options of serve is a behaviour, and what is not is none', () => {
  const { faults, ...given } = behaviourOf({ extra_messages: 2, rate_limit: 3, fault: '*=502:0.5' });
  expect(given).toMatchObject({ extraMessages: { count: 2, chars: 1000 }, rateLimit: { perMinute: 3 } });
  const drawnBy = (some = faults) => Array.from({ length: 12 }, () => some?.draw('GET', '/')?.kind);
  expect(drawnBy()).toEqual(drawnBy(readFaults('*=502:0.5', 1)));
  expect(behaviourOf({})).toMatchObject({ extraMessages: undefined, rateLimit: undefined, faults: undefined });
});
