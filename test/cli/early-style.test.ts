import { expect, test } from 'vitest';
import { fakeService } from '../helpers/service.ts';
import { run } from '../helpers/run.ts';

/** Lines that cannot be read, and whether their failure is JSON: it has the style of the options that can be. */
test.each<[line: string, env: Readonly<Record<string, string>>, 'json' | 'text']>([
  ['license list -o json --bogus', {}, 'json'],
  ['license list --output=json --bogus', {}, 'json'],
  ['license list -qojson --bogus', {}, 'json'],
  ['license list -qo json --bogus', {}, 'json'],
  ['--json license bogus', {}, 'json'],
  ['--json license list -o table --bogus', {}, 'text'],
  ['license list -o table --json --bogus', {}, 'json'],
  ['license list --bogus -- -o json', {}, 'text'],
  ['license list -o no-such-format', {}, 'text'],
  ['topic list 5 --older-than 3mo -o json --bogus', {}, 'json'],
  ['license list -o json --retries many', {}, 'json'],
  ['license list --bogus', { CHATELAINE_OUTPUT: 'json' }, 'json'],
  ['license list --bogus', { CHATELAINE_JSON: '1' }, 'json'],
  ['license list --bogus', { CHATELAINE_JSON: '1', CHATELAINE_RETRIES: 'many' }, 'json'],
])('%s with %j fails as %s', async (line, env, style) => {
  const { exitCode, stderr } = await run(fakeService(), line, { env });
  expect(exitCode).toBe(2);
  expect(stderr.startsWith('{')).toBe(style === 'json');
});

test('colour is that of the line, also where it cannot be read', async () => {
  const { stderr } = await run(fakeService(), 'license list --color always --bogus');
  expect(stderr).toContain('\u001b[');
});
