import { expect, test } from 'vitest';
import { sayGone } from '../../../src/jobs/archive/recheck-archive.ts';
import { countPlaces } from '../../../src/jobs/archive/visibility.ts';

const nothing = { limit: 0, 'no-access': 0, account: 0, unknown: 0 };
const gone = (why: keyof typeof nothing, count: number) => ({ gone: { ...nothing, [why]: count } });

test.each<[string, { readonly gone?: typeof nothing; readonly unsearched?: number }, readonly string[]]>([
  ['nothing', {}, []],
  [
    'what a limit hides',
    gone('limit', 2),
    ['warning: 2 archived messages are no longer visible: the plan of the organization hides messages of their age'],
  ],
  [
    'what a channel hides',
    gone('no-access', 1),
    ['warning: 1 archived message is no longer visible, nor is anything else of their channels'],
  ],
  [
    'what another account saw',
    gone('account', 2),
    ['note: 2 archived messages are not visible to this account; the previous one saw them'],
  ],
  [
    'what may be deleted',
    gone('unknown', 2),
    ['note: 2 archived messages are no longer visible: deleted, or moved where this account cannot see them'],
  ],
  [
    'channels in which nobody looked',
    { unsearched: 3 },
    ['warning: messages that are no longer visible were not searched for in 3 private channels: too many requests'],
  ],
])('a recheck says of %s', (_what, found, lines) => {
  const said: string[] = [];
  const say = (kind: string) => (text: string) => void said.push(`${kind}: ${text}`);

  sayGone(found.gone ?? nothing, found.unsearched ?? 0, { note: say('note'), warn: say('warning') });

  expect(said).toEqual(lines);
});

test('of the places of messages the five most frequent are named', () => {
  const messages = 'abcdeef'.split('').map((subject) => ({ display_recipient: 'tea', subject }));
  const five = '#tea > e (2), #tea > a (1), #tea > b (1), #tea > c (1), #tea > d (1)';
  expect([6, 7].map((count) => countPlaces(messages.slice(0, count)))).toEqual([five, `${five}, and 1 more places`]);
});
