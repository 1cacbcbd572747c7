import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandTable } from '../src/commands/index.ts';
import { Failure } from '../src/core/failure.ts';
import { emptyHome, openSandbox, words, type Ran, type RunningSandbox } from './helpers/run.ts';
import { needs } from './helpers/needs.ts';
import { rowOf, workbookOf } from './helpers/workbook.ts';

/**
 * Every example of help and manual, as a reader would type them: in the order of the pages, against the sample data, in
 * one home.
 */

const all = (await Promise.all(commandTable.map(async ({ load }) => (await load()).examples))).flat();

/**
 * Examples that need a server of their own, which test/commands/ledger and test/commands/curl.test.ts give such
 * commands.
 */
const withServer = [
  'chatelaine ledger status',
  'chatelaine license create --remote-user ada --size-allowance 4 --dry-run -o curl',
];

const examples = all.filter((example) => !withServer.includes(example));

/** Exit codes of examples that end with another than 0. */
const otherwise: Readonly<Record<string, number>> = {
  // It finds the license that an example of `license create` made beside another.
  'chatelaine license audit': 10,
  'chatelaine license audit --roster roster.csv -o json': 10,
  'chatelaine first-activation audit sensors.csv': 10,
  'chatelaine sandbox serve': 130,
  'chatelaine sandbox serve --shell powershell': 130,
  'chatelaine sandbox serve --feature-level 372 --data sandbox.ndjson': 130,
  'chatelaine sandbox serve --port 8080 --fault "POST /v1/license/=drop-after:0.2" --seed 7': 130,
};

const files: Readonly<Record<string, string>> = {
  'names.txt': 'ada\nlinus\n',
  'team.yaml': 'color_scheme: dark\n',
  'names.csv': 'remote_user,new_remote_user\nclinic-north/ward-3,ward-3\n',
  'left.csv': 'remote_user\nphysio-7800\n',
  'roster.csv': 'remote_user,size_allowance\nada,4\nphysio-7731,6\nclinic-north/ward-3,6\n',
  'sensors.csv': 'mac_address,remote_user\nD4:22:CD:00:03:01,clinic-north/ward-3\nD4:22:CD:00:03:02,physio-7740\n',
  zuliprc: '[api]\nemail=mara@harbour.example\nkey=SandboxKeyOfMara0000000000000000\nsite=https://chat.example.com\n',
};

/** Folders and files that examples write. */
const places = [
  'kitchen',
  'kitchen.html',
  'site/',
  'january',
  'everything',
  'accepted.txt',
  'plan.ndjson',
  'sandbox.ndjson',
];

test('one after the other, they work against one sandbox', { ...needs('shell'), timeout: 300_000 }, async () => {
  const sandbox = await openSandbox();
  const home = await furnished(sandbox);
  for (const example of examples) {
    const last = await runPipe(example, sandbox, home);
    const seen = { exitCode: last.exitCode, stderr: troubles(last), isEmpty: last.stdout === '' };
    const isEmpty = example.includes(' --to ') ? seen.isEmpty : false;
    expect.soft(seen, example).toEqual({ exitCode: otherwise[example] ?? 0, stderr: [], isEmpty });
  }
});

test('exceptions are examples that exist', () => {
  expect(all).toEqual(expect.arrayContaining([...Object.keys(otherwise), ...withServer]));
});

test('what examples write is in the home of their test', () => {
  const written = all.flatMap(
    (example) => / (?:--to|--write-accepted|--write-plan|--data|archive pull) (\S+)/.exec(example)?.[1] ?? [],
  );
  expect(written.length).toBeGreaterThan(2);
  for (const name of written) expect(places).toContain(name);
});

/** What is neither a note nor a warning. */
function troubles({ exitCode, lines }: Ran): readonly string[] {
  return exitCode === 130 ? [] : lines.filter((line) => line.startsWith('chatelaine: ') || line.startsWith('{"error"'));
}

/** A home with the files, the profiles and the password manager that the examples speak of. */
async function furnished({ env, run }: RunningSandbox): Promise<string> {
  const home = emptyHome();
  const site = env['CHATELAINE_CHAT_SITE'] ?? '';
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(home, name), text.replace('https://chat.example.com', site), { mode: 0o600 });
  const rows = [
    ['Login', 'remote_user'],
    ['1', 'physio-7731'],
  ].map((cells, at) => rowOf(at + 1, cells));
  writeFileSync(join(home, 'sheet.xlsx'), workbookOf({ sheets: rows.join('') }));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'pass'), `#!/bin/sh\necho ${env['CHATELAINE_API_KEY'] ?? ''}\n`);
  chmodSync(join(home, 'bin', 'pass'), 0o755);
  const login = ['auth', 'login', 'licensing', '--base-url', env['CHATELAINE_BASE_URL'] ?? '', '--app-code', '4711'];
  for (const name of ['old', 'prod']) {
    const { exitCode } = await run([...login, '--name', name, '--api-key-stdin'], {
      home,
      bare: true,
      stdin: `${env['CHATELAINE_API_KEY'] ?? ''}\n`,
    });
    expect(exitCode).toBe(0);
  }
  return home;
}

/** Commands joined by `|`, the first with a file behind `<`. */
async function runPipe(example: string, sandbox: RunningSandbox, home: string): Promise<Ran> {
  const [line = '', file] = example.split(' < ');
  let stdin = file === undefined ? keyFor(example, sandbox) : (files[file] ?? '');
  let last: Ran | undefined;
  for (const part of line.split(' | ')) {
    last = await runOne(words(part), stdin, sandbox, home);
    stdin = last.stdout;
  }
  if (!last) throw new Error('an example is no command');
  return last;
}

async function runOne(typed: readonly string[], stdin: string, sandbox: RunningSandbox, home: string): Promise<Ran> {
  const [program, ...line] = typed.map((word) =>
    word in files || word === 'sheet.xlsx' || places.includes(word) ? join(home, word) : standIn(word, sandbox),
  );
  expect(program).toBe('chatelaine');
  const isStored = line[0] === 'auth' || line.includes('--sandbox');
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort(new Failure('cancelled', 'interrupted'));
  return sandbox.run(isStored ? line : ['--sandbox', ...line], {
    home,
    bare: true,
    stdin,
    env: { PATH: `${join(home, 'bin')}:/usr/bin:/bin` },
    interrupt: interrupt.signal,
    // It serves until it is interrupted, and says so first.
    ...(line[1] === 'serve' ? { written: stop } : {}),
  });
}

/** The sandbox in place of the servers that examples name, and any port in place of a fixed one. */
function standIn(word: string, { env }: RunningSandbox): string {
  const substitutes: Readonly<Record<string, string | undefined>> = {
    'https://licenses.example.com': env['CHATELAINE_BASE_URL'],
    'https://chat.example.com': env['CHATELAINE_CHAT_SITE'],
    'ada@example.com': env['CHATELAINE_CHAT_EMAIL'],
    '8080': '0',
  };
  return substitutes[word] ?? word;
}

function keyFor(example: string, { env }: RunningSandbox): string {
  return example.includes('--api-key-stdin') ? `${env['CHATELAINE_CHAT_API_KEY'] ?? ''}\n` : '';
}
