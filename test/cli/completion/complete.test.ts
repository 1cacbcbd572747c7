import { beforeEach, describe, expect, test } from 'vitest';
import { answerFor, complete, readBashLine, type Surface } from '../../../src/cli/completion/complete.ts';
import { runAlone, words } from '../../helpers/run.ts';
import { generalFormats } from '../../../src/output/formats.ts';

let surface: Surface = { groups: [], commands: [], options: [] };

beforeEach(async () => {
  if (surface.commands.length === 0) surface = JSON.parse((await runAlone('commands -o json')).stdout) as Surface;
});

const profiles = () => ['prod', 'team', '$(touch harm)', 'a b', 'c\n', '\u202etaem'];

/** What completes a line whose last word, perhaps empty, is at the cursor. */
function at(line: string): readonly string[] {
  const typed = [...words(line), ...(line.endsWith(' ') ? [''] : [])];
  return complete(surface, typed.slice(0, -1), typed.at(-1) ?? '', profiles).offers.map(({ word }) => word);
}

function kindAt(line: string): string {
  const typed = [...words(line), ...(line.endsWith(' ') ? [''] : [])];
  return complete(surface, typed.slice(0, -1), typed.at(-1) ?? '', profiles).kind;
}

describe('the word at the cursor', () => {
  test.each([
    ['lic', ['license']],
    ['view ', ['pin', 'hide', 'list', 'rename']],
    ['help view ', ['pin', 'hide', 'list', 'rename']],
    ['-p prod --sandbox -o json view p', ['pin']],
    ['nonsense ', []],
    ['first-activation ', ['audit']],
    ['first-activation D4:22:CD:00:03:01 ', []],
    ['license create --remote', ['--remote-user']],
    ['license create ', ['--remote-user', '--app-code', '--size-allowance', '--settle']],
    ['messages fetch --is dm --is st', ['starred']],
    ['messages fetch --in', ['--in', '--include-anchor', '--input']],
    ['license list -o ', generalFormats],
    ['messages fetch -o t', [...generalFormats.filter((name) => name.startsWith('t')), 'text']],
    ['archive export kitchen -o ', ['ndjson', 'csv', 'text', 'html']],
    ['license list -qo j', ['json']],
    ['license list --output=j', ['--output=json']],
    ['license list --color=', ['--color=auto', '--color=always', '--color=never']],
    ['license apply --input-format ', ['csv', 'xlsx', 'ndjson', 'json']],
    ['messages fetch --not search', []],
    ['messages fetch --anchor ', ['newest', 'oldest', 'first_unread']],
    ['view pin inbox narrow/is', ['narrow/is/mentioned', 'narrow/is/starred']],
    ['auth use ', ['prod', 'team']],
    ['license list --profile t', ['team']],
    ['messages fetch --channel ', []],
    ['view rename narrow/is/st', ['narrow/is/starred']],
    ['auth login ', ['licensing', 'chat']],
    ['api chat ', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['snippet rm -- -', []],
  ])('%j', (line, expected) => {
    expect(at(line)).toEqual(expected);
  });

  test.each([
    ['license apply ', 'files'],
    ['license apply --file ', 'files'],
    ['license audit --roster=', 'files'],
    ['archive export kitchen --to ', 'files'],
    ['archive pull ', 'folders'],
    ['topic delete general --archive ', 'folders'],
    ['license create --remote-user ', 'words'],
  ])('%j is one of %s', (line, kind) => {
    expect(kindAt(line)).toBe(kind);
  });

  test('a line without words begins with each command or its noun', () => {
    const first = surface.commands.map(({ name }) => name.split(' ')[0]);
    expect(at('')).toEqual([...new Set(first)]);
    expect(at('')).toEqual(expect.arrayContaining(['license', 'first-activation', 'topic', 'doctor']));
  });

  test('every option and command says what it means', () => {
    const offers = [
      ...complete(surface, [], '', profiles).offers,
      ...complete(surface, ['messages', 'fetch'], '--', profiles).offers,
    ];
    expect(offers.filter(({ text }) => text === '')).toEqual([]);
  });
});

describe('a line of bash', () => {
  test.each([
    ['chatelaine ', [], ''],
    ['chatelaine license li', ['license'], 'li'],
    ['chatelaine license view \'a b\' c\\ d "e \\"f" ', ['license', 'view', "'a b'", 'c\\ d', '"e \\"f"'], ''],
    ['chatelaine license list --output=js', ['license', 'list'], '--output=js'],
    ['chatelaine license view $(touch harm) `id` $HOME ', ['license', 'view', '$(touch', 'harm)', '`id`', '$HOME'], ''],
    [`chatelaine license view 'it'"s a`, ['license', 'view'], `'it'"s a`],
  ])('%s', (line, words, current) => {
    expect(readBashLine(line)).toEqual({ words, current });
  });

  test('the target of a redirection is a file, whatever the command', () => {
    expect(readBashLine('chatelaine license list > ')).toBeUndefined();
    expect(readBashLine('chatelaine license list >> rep')).toBeUndefined();
    expect(readBashLine('chatelaine license list 2>rep')).toBeUndefined();
  });
});

test('each shell gets its own form of an offer', () => {
  const completion = {
    kind: 'words',
    offers: [
      { word: 'id:7', text: 'A meaning' },
      { word: 'id:b', text: '' },
    ],
  } as const;
  expect(answerFor('bash', completion, 3)).toBe('words\n7\nb\n');
  expect(answerFor('zsh', completion, 0)).toBe('words\nid\\:7:A meaning\nid\\:b\n');
  expect(answerFor('fish', completion, 0)).toBe('words\nid:7\tA meaning\nid:b\n');
  expect(answerFor('powershell', completion, 0)).toBe(answerFor('fish', completion, 0));
});
