import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWhole, onesFor, sampleOf, seed } from '../helpers/extent.ts';
import { needs, whereIs } from '../helpers/needs.ts';
import { openOrigin, type Respond } from '../helpers/origin.ts';
import { environmentOf, preloaded, start } from './program.ts';
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
  ['chatelaine auth list --fields profile,ki\t--sort=-ke\t', '[auth][list][--fields][profile,kind][--sort=-key]'],
  ['chatelaine --color=nev\tdoc\t', '[--color=never][doctor]'],
  ['chatelaine settings set color_sch\tdar\t', '[settings][set][color_scheme=dark]'],
  ['chatelaine settings set timezone=Europe/Berl\t', '[settings][set][timezone=Europe/Berlin]'],
  ['chatelaine messages fetch --not is=star\t', '[messages][fetch][--not][is=starred]'],
  ['chatelaine view pin narrow/is/st\t', '[view][pin][narrow/is/starred]'],
  ['chatelaine auth use pro\t', '[auth][use][prod]'],
  ['chatelaine license apply ros\t', '[license][apply][roster one.csv]'],
  ['chatelaine license audit --roster=ros\t', '[license][audit][--roster=roster one.csv]'],
  ['chatelaine archive pull kit\t', '[archive][pull][kitchen/]'],
  ["chatelaine license view 'a b' --out\tjs\t", '[license][view][a b][--output][json]'],
];

/** Titles of snippets that hold what a shell would read as something else. */
const titles = [
  'One key each',
  `It's "quoted"`,
  "that's Ada's'",
  'cost $(touch harm) `touch harm` $HOME',
  'wow! a*b ~ {c,d}',
  'ratio 1:2=x @home; & | < >',
  'back\\slash näh ✔',
];
/** A title as it is begun by hand, with and without a quote. */
const begun = ['One', 'It', 'tha', 'cos', 'wow', 'rat', 'bac'].flatMap((start, index) =>
  onesFor(index, ['', "'", '"']).map((quote) => [quote + start, titles[index] ?? ''] as const),
);

/** In one shell, since starting it and loading the script cost most. */
for (const shell of [bash, ...sampleOf(1, shells.slice(1))])
  test(
    `${shell.title} completes words, values, files and names of a server, says what an offer means, and runs nothing of them`,
    needs(...(shell.name === 'bash' ? [] : [shell.name]), 'shell', 'terminals'),
    async () => {
      const account = await signedIn(() => ({ body: snippets(titles) }));
      await warmed(account, 'snippet rm ');
      const terminal = await opened(shell, account.home, account.env);
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
      for (const [typed, title] of shell === bash ? begun : sampleOf(3, begun)) {
        terminal.type(`chatelaine snippet rm ${typed}\t`);
        // fish closes a quote itself when it has one word to offer.
        terminal.type('\r');
        await terminal.shows(argumentsAs(`[snippet][rm][${title}]`));
      }
      expect(readdirSync(account.home)).not.toContain('harm');
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

/** An account of the environment, at a server that answers as the test says. */
async function signedIn(respond: Respond) {
  const { port, seen } = await openOrigin(respond);
  const home = furnished();
  const account = { CHATELAINE_CHAT_EMAIL: 'ada@harbour.example', CHATELAINE_CHAT_API_KEY: 'k'.repeat(32) };
  return { home, seen, env: { CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`, ...account } };
}

/** What TAB in zsh is answered behind a line. */
async function atTab({ home, env }: { readonly home: string; readonly env?: Record<string, string> }, line: string) {
  const { stdout, stderr } = await start(`__complete zsh ${line}`, { home, ...(env && { env }) }).ended;
  return { offers: stdout.split('\n').slice(1, -1), stderr };
}

/**
 * On a busy computer a second may be over before the other process is ready: a shell finds the names that were kept.
 */
async function warmed(account: Awaited<ReturnType<typeof signedIn>>, line: string): Promise<void> {
  while ((await atTab(account, line)).offers.length === 0) rmSync(join(account.home, namesKept));
}

const namesKept = '.local/state/chatelaine/completion.json';

function snippets(titles: readonly string[]): string {
  return JSON.stringify({ result: 'success', msg: '', saved_snippets: titles.map((title, id) => ({ id, title })) });
}

/**
 * A shell that has loaded the script, in a folder with files, profiles, and a `chatelaine` that tells what it was
 * given.
 */
async function opened({ name, args, load }: Shell, home = furnished(), more = {}): Promise<Terminal> {
  const env = {
    ...more,
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    PS1: '> ',
    INPUTRC: '/dev/null',
  };
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
  const profiles = { prod: {}, '$(touch harm)': {}, 'pr`touch harm`': {} };
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

describe('names of a server at TAB', () => {
  test('are asked for once, and kept for this user alone', needs('modes'), async () => {
    const account = await signedIn(() => ({ body: snippets(['One key each']) }));
    await warmed(account, 'snippet rm ');
    const requests = account.seen.length;
    expect(await atTab(account, 'snippet rm On')).toEqual({ offers: ['One key each:0'], stderr: '' });
    expect(account.seen).toHaveLength(requests);
    const kept = join(account.home, namesKept);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, 'utf8')).not.toContain('kkkk');
  });

  test('are none where the server refuses, and nothing is said or asked again at once', async () => {
    const account = await signedIn(() => ({
      status: 401,
      body: '{"result":"error","msg":"no","code":"UNAUTHORIZED"}',
    }));
    expect(await atTab(account, 'messages fetch --channel ')).toEqual({ offers: [], stderr: '' });
    const requests = account.seen.length;
    expect(await atTab(account, 'messages fetch --channel ')).toEqual({ offers: [], stderr: '' });
    expect(account.seen).toHaveLength(requests);
  });

  test('delay a TAB by little where the server does not answer', async () => {
    const account = await signedIn(() => undefined);
    const { offers, stderr } = await atTab(account, 'view hide nar');
    expect(offers).toContain('narrow/is/starred');
    expect(stderr).toBe('');
  });

  test('are asked for with no key from a command, since it may ask its user', async () => {
    const home = furnished();
    const profile = {
      kind: 'chat',
      site: 'http://127.0.0.1:1',
      email: 'ada@harbour.example',
      key_command: 'touch harm',
    };
    const config = { version: 1, defaults: { chat: 'team' }, profiles: { team: profile } };
    writeFileSync(join(home, '.config/chatelaine/config.json'), JSON.stringify(config), { mode: 0o600 });
    expect(await atTab({ home }, 'messages fetch --sender ')).toEqual({ offers: [], stderr: '' });
    expect(existsSync(join(home, namesKept))).toBe(false);
    expect(readdirSync(home)).not.toContain('harm');
  });

  test('are no options of the line', async () => {
    const members = ['--summary=/etc/motd', 'ada@harbour.example'].map((email) => ({
      email,
      user_id: 1,
      full_name: '',
    }));
    const account = await signedIn(() => ({ body: JSON.stringify({ result: 'success', msg: '', members }) }));
    await warmed(account, 'messages fetch --sender ');
    const { offers } = await atTab(account, 'messages fetch --sender ');
    expect(offers).toEqual(['me:the account itself', 'ada@harbour.example']);
  });

  test('of digits are found by them, and offered as what the line takes; case does not matter', async () => {
    const streams = [
      { name: '2024', stream_id: 9 },
      { name: 'Release notes', stream_id: 7 },
    ];
    const account = await signedIn(() => ({ body: JSON.stringify({ result: 'success', msg: '', streams }) }));
    await warmed(account, 'topic list ');
    expect((await atTab(account, 'topic list 20')).offers).toEqual(['name:2024']);
    expect((await atTab(account, 'messages fetch --channel NOT')).offers).toEqual(['Release notes']);
  });

  test('of two lists are kept where a file that is open cannot be replaced', needs('proc'), async () => {
    const { home, env } = await signedIn(() => ({ body: '{}' }));
    const account = { home, env: { ...env, ...preloaded('test/store/odd-disk.cjs'), ODD_DISK: 'open-stays' } };
    await atTab(account, 'messages fetch --channel ');
    await atTab(account, 'topic delete 7 ');
    const kept = JSON.parse(readFileSync(join(home, namesKept), 'utf8')) as object;
    expect(Object.keys(kept).map((key) => key.replace(/.*example /, ''))).toEqual(['channels', 'topics of 7']);
  });

  test('of a topic need its channel', async () => {
    const account = await signedIn(({ url }) => ({
      body: url.startsWith('/api/v1/streams')
        ? '{"result":"success","msg":"","streams":[{"name":"Release notes","stream_id":7}]}'
        : url === '/api/v1/users/me/7/topics'
          ? '{"result":"success","msg":"","topics":[{"name":"v1: first","max_id":9},{"name":"-f","max_id":8}]}'
          : '{}',
    }));
    await warmed(account, 'messages fetch --channel ');
    await warmed(account, 'topic delete 7 ');
    const words = ['__complete', 'zsh', 'messages', 'fetch', '--channel', 'Release notes', '--topic', ''];
    expect(
      spawnSync(process.execPath, ['bin/chatelaine.cjs', ...words], {
        env: { ...environmentOf(account.home), ...account.env },
      }).stdout.toString(),
    ).toBe('words\nv1\\: first\n');
  });
});
