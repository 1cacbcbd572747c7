import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../helpers/run.ts';

const users = Array.from({ length: 30 }, (_, index) => `new-${index}`);

/**
 * What an operation costs on the wire, a look that confirms what was created included: times differ from machine to
 * machine.
 */
test.each<[line: string, before: string, requests: Readonly<Record<string, number>>]>([
  ['license list', '', { 'GET /v1/license/': 1 }],
  ['license list --remote-user kit', '', { 'GET /v1/license/': 1 }],
  // The name in four spellings, of which two are one, before the POST, and the given one after it.
  ['license create --remote-user kit --size-allowance 4', '', { 'GET /v1/license/': 4, 'POST /v1/license/': 1 }],
  ['license ensure --remote-user kit --size-allowance 4', '', { 'GET /v1/license/': 4, 'POST /v1/license/': 1 }],
  [
    'license ensure --remote-user kit --size-allowance 4',
    'license create --remote-user kit --size-allowance 4',
    { 'GET /v1/license/': 1, 'GET /v1/license/[license_code]/': 1 },
  ],
  // Each user is looked up before the POST, the first four in other forms, and the first after it; two lists. A listed
  // key is requested once.
  ['license apply ROSTER', '', { 'GET /v1/license/': 3 + 8 + users.length, 'POST /v1/license/': users.length }],
  ['license apply ROSTER', 'license apply ROSTER', { 'GET /v1/license/': 1, 'GET /v1/license/[license_code]/': 1 }],
  ['messages fetch', '', { 'GET /api/v1/messages': 1 }],
  ['messages fetch --channel general --limit 10', '', { 'GET /api/v1/messages': 1 }],
  ['settings set color_scheme=dark', '', { 'GET /api/v1/server_settings': 1, 'PATCH /api/v1/settings': 1 }],
  ['settings list', '', {}],
])('%s (after: %s)', async (line, before, requests) => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const roster = join(home, 'roster.csv');
  writeFileSync(roster, ['remote_user,size_allowance', ...users.map((user) => `${user},4`)].join('\n'));
  const typed = (words: string): string => words.replace('ROSTER', roster);
  if (before !== '') await run(typed(before), { home });

  const log = join(home, 'log.ndjson');
  const { exitCode } = await run(`${typed(line)} --log ${log}`, { home });

  expect(exitCode).toBe(0);
  expect(requestsIn(readFileSync(log, 'utf8'))).toEqual(requests);
});

function requestsIn(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of log.split('\n').filter((text) => text !== '')) {
    const { event, method, url } = JSON.parse(line) as { event: string; method: string; url: string };
    const request = `${method} ${new URL(url).pathname}`;
    if (event === 'request') counts[request] = (counts[request] ?? 0) + 1;
  }
  return counts;
}
