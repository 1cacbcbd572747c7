import { beforeEach, describe, expect, test } from 'vitest';
import { complete, type Surface } from '../../../src/cli/completion/complete.ts';
import { answerFor, readBashLine } from '../../../src/cli/completion/completion-process.ts';
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
    ['license create --remote-user ada --remote', []],
    ['license create ', ['--remote-user', '--app-code', '--size-allowance', '--settle']],
    ['messages fetch --is dm --is st', ['starred']],
    ['messages fetch --in', ['--in', '--include-anchor', '--input']],
    ['messages fetch --no-in', ['--no-include-anchor', '--no-input']],
    ['license list -o ', generalFormats],
    ['messages fetch -o t', [...generalFormats.filter((name) => name.startsWith('t')), 'text']],
    ['archive export kitchen -o ', ['ndjson', 'csv', 'excel', 'excel-semicolon', 'text', 'html']],
    ['license list -qo j', ['json']],
    ['license list --output=j', ['--output=json']],
    ['license list --color=', ['--color=auto', '--color=always', '--color=never']],
    ['license apply --input-format ', ['csv', 'xlsx', 'ndjson', 'json']],
    ['settings set color_s', ['color_scheme=']],
    ['settings set color_scheme=', ['color_scheme=automatic', 'color_scheme=dark', 'color_scheme=light']],
    ['settings set twenty_four_hour_time=', ['twenty_four_hour_time=true', 'twenty_four_hour_time=false']],
    ['settings set old_', ['old_password']],
    ['settings set new_password=', []],
    ['settings set full_name=', []],
    ['settings set constructor=', []],
    ['settings describe color_s', ['color_scheme']],
    ['messages fetch --not search', []],
    ['messages fetch --anchor ', ['newest', 'oldest', 'first_unread']],
    ['view pin inbox narrow/is', ['narrow/is/mentioned', 'narrow/is/starred']],
    ['auth use ', ['prod', 'team', '$(touch harm)', 'a b']],
    ['license list --profile t', ['team']],
    ['messages fetch --channel ', []],
    ['view rename narrow/is/st', ['narrow/is/starred']],
    ['auth login ', ['licensing', 'chat']],
    ['api chat ', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['snippet rm -- -', []],
    ['snippet list --fields ', ['id', 'title', 'content', 'date_created']],
    ['auth status --fields profile,k', ['profile,kind', 'profile,key']],
    ['auth status --fields=profile,kind,k', ['--fields=profile,kind,key']],
    ['auth status --sort k', ['kind', 'key']],
    ['auth status --sort=-k', ['--sort=-kind', '--sort=-key']],
    ['completion --fields ', []],
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
  const breaks = ' \t\n"\'><=;|&(:';

  test.each([
    ['chatelaine ', [], '', ''],
    ['chatelaine license li', ['license'], 'li', ''],
    ['chatelaine license view \'a b\' c\\ d "e \\"f" ', ['license', 'view', 'a b', 'c d', 'e "f'], '', ''],
    ['chatelaine license list --output=js', ['license', 'list'], '--output=js', '--output='],
    ['chatelaine license list 2>errors --fie', ['license', 'list'], '--fie', ''],
    [
      'chatelaine license view $(touch harm) `id` $HOME ',
      ['license', 'view', '$(touch', 'harm)', '`id`', '$HOME'],
      '',
      '',
    ],
  ])('%s', (line, expected, current, kept) => {
    expect(readBashLine(line, breaks)).toEqual({ words: expected, current, kept, quote: '' });
  });

  test.each([
    ['"color_scheme=d', 'color_scheme=d', '', '"'],
    ["--topic='a=b c", '--topic=a=b c', '--topic=', "'"],
    ['--sender ada@ex', 'ada@ex', 'ada', ''],
    ['release\\:\\ 1', 'release: 1', '', ''],
    [`'it'"s a`, 'its a', 'it', '"'],
    [`'it'\\''s`, "it's", "it'", "'"],
    ["'a b'c", 'a bc', 'a b', ''],
  ])('bash replaces what is behind the last break or open quote: %s', (typed, current, kept, quote) => {
    expect(readBashLine(`chatelaine ${typed}`, `${breaks}@`)).toMatchObject({ current, kept, quote });
  });

  test('the target of a redirection is a file, whatever the command', () => {
    expect(readBashLine('chatelaine license list > ', breaks)).toBeUndefined();
    expect(readBashLine('chatelaine license list >> rep', breaks)).toBeUndefined();
  });

  test('without = among the breaks of the shell, the whole word is replaced', () => {
    expect(readBashLine('chatelaine -o x --output=js', ' \t\n')).toMatchObject({ kept: '' });
  });
});

test('each shell gets its own form of an offer', () => {
  const completion = {
    kind: 'words',
    offers: [
      { word: 'id:7', text: 'A meaning' },
      { word: 'b', text: '' },
    ],
  } as const;
  expect(answerFor('bash', completion, { kept: 'id:', quote: '' })).toBe('words\n7\nb\n');
  expect(answerFor('bash', { ...completion, offers: completion.offers.slice(0, 1) }, { kept: 'id:', quote: '' })).toBe(
    'words\n7\n',
  );
  expect(answerFor('zsh', completion)).toBe('words\nid\\:7:A meaning\nb\n');
  expect(answerFor('fish', completion)).toBe('words\nid:7\tA meaning\nb\n');
  expect(answerFor('powershell', completion)).toBe(answerFor('fish', completion));
});

test.each([
  ['bash', '', String.raw`It\'s\ \$\(a\)\ \"b\\c\!`],
  ['bash', "'", String.raw`It'\''s $(a) "b\c!`],
  ['bash', '"', String.raw`It's \$(a) \"b\\c"'!'"`],
  ['zsh', '', String.raw`It's $(a) "b\\c!`],
  ['fish', '', String.raw`It's $(a) "b\c!`],
  ['powershell', '', String.raw`'It''s $(a) "b\c!'`],
])('a word that a shell would expand is quoted for it: %s %s', (shell, quote, text) => {
  const completion = { kind: 'words', offers: [{ word: String.raw`It's $(a) "b\c!`, text: '' }] } as const;
  expect(answerFor(shell, completion, { kept: '', quote })).toBe(`words\n${text}\n`);
});

test.each([
  ["'", "it''", String.raw`it'\'''\'`],
  ['"', 'say "a"', String.raw`say \"a"\"`],
])('bash does not close a quote %s behind the same sign', (quote, word, text) => {
  const completion = { kind: 'words', offers: [{ word, text: '' }] } as const;
  expect(answerFor('bash', completion, { kept: '', quote })).toBe(`words\n${text}\n`);
});

test('words that continue after = are said to be open', () => {
  expect(answerFor('fish', { kind: 'words', offers: [{ word: 'email=', text: '' }] })).toBe('open\nemail=\n');
});
