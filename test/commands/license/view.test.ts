import { expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';

test('a code that nobody has: the way to the licenses of a user is named', async () => {
  const service = fakeService();
  service.expect({ method: 'GET', path: '/v1/license/ada/' }).reply(404, { detail: 'Not found.' });
  const { exitCode, lines } = await run(service, 'license view ada');
  expect(exitCode).toBe(5);
  expect(lines.slice(-2)).toEqual(['  To find it by its user:', '  chatelaine license list']);
});
