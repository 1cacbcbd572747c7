import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWhole, sampleOf, seed } from '../helpers/extent.ts';
import { needs, whereIs } from '../helpers/needs.ts';
import { emptyHome, openProgram, type Terminal } from './pty.ts';

/** TAB in the real shells. A shell that is not installed is skipped. */

interface Shell {
  readonly name: 'bash' | 'zsh' | 'fish';
  readonly title: string;
  readonly args: readonly string[];
  /** How a user loads the script. */
  readonly load: string;
  /** Makes TAB complete and nothing else: zsh itself expands the word at the cursor, with or without a script. */
  readonly onlyCompletes?: string;
  /** Whether it shows what an offer means. */
  readonly explains: boolean;
}

const bash: Shell = {
  name: 'bash',
  title: 'bash',
  args: ['--norc', '--noprofile', '-i'],
  load: 'eval "$(chatelaine completion bash)"',
  explains: false,
};
const shells: readonly Shell[] = [
  bash,
  {
    name: 'zsh',
    title: 'zsh',
    args: ['-f', '-i'],
    load: 'source <(chatelaine completion zsh)',
    onlyCompletes: "bindkey '^I' complete-word; ",
    explains: true,
  },
  {
    name: 'zsh',
    title: 'zsh, from a folder of fpath',
    args: ['-f', '-i'],
    load: 'chatelaine completion zsh > bin/_chatelaine; fpath=(~/bin $fpath); autoload -Uz compinit; compinit -i',
    onlyCompletes: "bindkey '^I' complete-word; ",
    explains: true,
  },
  {
    name: 'fish',
    title: 'fish',
    args: ['--no-config', '-i', '-C', "function fish_prompt; echo -n '> '; end"],
    load: 'chatelaine completion fish | source',
    explains: true,
  },
];

/** A line with its TABs, and the arguments that the command gets when it is run. */
const lines: readonly (readonly [typed: string, args: string])[] = [
  ['chatelaine lic\tcre\t--rem\tada', '[license][create][--remote-user][ada]'],
  ['chatelaine license list -o js\t', '[license][list][-o][json]'],
  ['chatelaine license list --output=js\t', '[license][list][--output=json]'],
  ['chatelaine --color=nev\tdoc\t', '[--color=never][doctor]'],
  ['chatelaine view pin narrow/is/st\t', '[view][pin][narrow/is/starred]'],
  ['chatelaine auth use pro\t', '[auth][use][prod]'],
  ['chatelaine license apply ros\t', '[license][apply][roster one.csv]'],
  ['chatelaine license audit --roster=ros\t', '[license][audit][--roster=roster one.csv]'],
  ['chatelaine archive pull kit\t', '[archive][pull][kitchen/]'],
  ["chatelaine license view 'a b' --out\tjs\t", '[license][view][a b][--output][json]'],
];

/** In one shell, since starting it and loading the script cost most. */
for (const shell of [bash, ...sampleOf(1, shells.slice(1))])
  test(
    `${shell.title} completes words, values, files and profiles, says what an offer means, and runs nothing of them`,
    needs(...(shell.name === 'bash' ? [] : [shell.name]), 'shell', 'terminals'),
    async () => {
      const home = furnished();
      const terminal = await opened(shell, home);
      for (const [typed, args] of linesOf(shell === bash ? 'script' : 'loading')) {
        terminal.type(`${typed}\r`);
        await terminal.shows(argumentsAs(args));
      }

      terminal.type('chatelaine view \t\t');
      await terminal.shows(shell.explains ? /rename.*Rename a custom navigation view/ : /hide +list +pin +rename/);
      terminal.type(`\u0015${shell.onlyCompletes ?? ''}echo bo"und"\r`);
      await terminal.shows(/bound\r?\n[^]*> /);

      for (const word of ['$(touch harm)', '`touch harm`', '"$(touch harm)"', '--out=$(touch harm)', '<(touch harm)'])
        terminal.type(`chatelaine license view ${word} \t${word}\t\u0015`);
      terminal.type('chatelaine auth use \t\t\u0015');
      terminal.type('chatelaine auth use pro\t\r');
      await terminal.shows(/ran: \[auth\]\[use\]\[prod\]/);
      expect(readdirSync(home)).not.toContain('harm');
    },
  );

describe('bash with the package bash-completion', needs('bash-completion'), () => {
  test('completes the same', needs('terminals'), async () => {
    const terminal = await opened({ ...bash, load: `. ${whereIs('bash-completion') ?? ''}; ${bash.load}` });
    for (const [typed, args] of linesOf('loading')) {
      terminal.type(`${typed}\r`);
      await terminal.shows(argumentsAs(args));
    }
  });
});

/** All of them in bash, and a sample in other shells, and where the script is loaded in another way. */
function linesOf(how: 'script' | 'loading'): typeof lines {
  return lines.filter((_line, at) => isWhole || how === 'script' || at % 4 === seed % 4);
}

/**
 * A shell that has loaded the script, in a folder with files, profiles, and a `chatelaine` that tells what it was
 * given.
 */
async function opened({ name, args, load }: Shell, home = furnished()): Promise<Terminal> {
  const env = { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`, PS1: '> ', INPUTRC: '/dev/null' };
  const terminal = openProgram(name, args, { home, env, columns: 120 });
  terminal.type(`${load}; echo load"ed"\r`);
  // Typed before the prompt, a key is the terminal's and not the shell's.
  await terminal.shows(/loaded\r?\n[^]*> /);
  return terminal;
}

function furnished(): string {
  const home = emptyHome();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  const program = join(bin, 'chatelaine');
  const real = `exec '${process.execPath}' '${resolve('bin/chatelaine.cjs')}' "$@"`;
  const said = `printf 'ran: '; printf '[%s]' "$@"; echo`;
  writeFileSync(program, `#!/bin/sh\ncase $1 in __complete|completion) ${real};; esac\n${said}\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(home, 'roster one.csv'), '');
  mkdirSync(join(home, 'kitchen'));
  mkdirSync(join(home, '.config', 'chatelaine'), { recursive: true });
  const stored = ['prod', '$(touch harm)', 'pr`touch harm`'];
  const profiles = Object.fromEntries(stored.map((name) => [name, {}]));
  writeFileSync(join(home, '.config', 'chatelaine', 'config.json'), JSON.stringify({ profiles }));
  return home;
}

/** zsh takes the slash of a folder away again when the line is run. */
function argumentsAs(text: string): RegExp {
  return new RegExp(`ran: ${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace('/\\]', '/?\\]')}\\s[^]*> `);
}

test.each([
  ['license', '=li', 'words\nlist\t', true],
  ['completion', '=', 'words\nbash\nzsh\nfish\npowershell\n', false],
])(
  'PowerShell asks with a sign before the word at the cursor, which may be empty: %s',
  (word, current, answer, isStart) => {
    const { stdout } = spawnSync(process.execPath, ['bin/chatelaine.cjs', '__complete', 'powershell', word, current]);
    expect(isStart ? stdout.toString().slice(0, answer.length) : stdout.toString()).toBe(answer);
  },
);
