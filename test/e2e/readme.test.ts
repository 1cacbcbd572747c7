import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { failures, nameOf, type FailureKind } from '../../src/core/failure.ts';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';
import { licenseRules } from '../../src/schema/license.ts';
import { expectGolden } from '../helpers/golden.ts';
import { realTime } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openTerminal } from './pty.ts';

/**
 * The pages for users are run: each line behind a `$` in a `console` block, on a terminal of 100 columns, and its
 * output must be the text below it. `npm run golden` writes what has changed.
 */

const pages = ['README.md', 'docs/signing-in.md', 'docs/scripts.md'] as const;
const readme = readFileSync('README.md', 'utf8');

test.each(pages)('every session of %s is what comes out when it is typed', needs('terminals'), async (page) => {
  const place = await furnished();
  const written = readFileSync(page, 'utf8');
  let text = page === 'docs/scripts.md' ? replaceBetween(written, 'exit codes', exitRows()) : written;
  for (const [block, session = ''] of text.matchAll(/```console\n(.*?)```/gs)) {
    const fresh = await rerun(session, page, place);
    text = text.replace(block, () => `\`\`\`console\n${fresh}\`\`\``);
  }

  await expectGolden(text, page);
});

test('README can be read at once', () => {
  expect(readFileSync('README.md').length).toBeLessThanOrEqual(9 * 1024);
});

test('the first of the two commands works behind its installation, as written there', needs('terminals'), async () => {
  const [, typed = ''] = /```sh\nnpm ci && (node bin.*)\n```/.exec(readme) ?? [];
  const { exitCode, output } = await openTerminal(`cd '${process.cwd()}' && ${typed}`, { columns: 100 }).ended;

  expect(exitCode).toBe(0);
  expect(output.match(/\bada\b/g)).toHaveLength(2);
});

test('the second of the two commands is the one that the machine of tests runs', () => {
  expect(readme).toContain('```sh\nnpm ci && npm test\n```');
  expect(readFileSync('.ci/run', 'utf8')).toContain('npm ci && npm test');
});

test('the rules of license keys are there as in help', () => {
  expect(readme.replace(/\s+/g, ' ')).toContain(licenseRules.split('. ')[0]);
});

test('no block of code is neither run nor one of the two commands', () => {
  const kinds = [...readme.matchAll(/^```(\w+)$/gm)].map(([, kind]) => kind);

  expect(kinds.filter((kind) => kind !== 'console')).toEqual(['sh', 'sh']);
});

interface Place {
  readonly home: string;
  readonly sandbox: Sandbox;
}

/** A home with what the sessions speak of: files, a password manager, and servers in place of real ones. */
async function furnished(): Promise<Place> {
  const sandbox = await startSandbox({ clock: realTime });
  onTestFinished(() => sandbox.close());
  const home = emptyHome();
  const keep = (name: string, text: string): void => writeFileSync(join(home, name), text, { mode: 0o600 });
  const [app] = sandbox.licensing.apps;
  const [account] = sandbox.chat.accounts;
  if (!account) throw new Error('the sandbox has no sample data');
  keep('roster.csv', 'remote_user,size_allowance\nada,6\nclinic-north/ward-3,6\nlinus,2\n');
  keep('zuliprc', `[api]\nemail=${account.email}\nkey=${account.api_key}\nsite=${sandbox.chat.site}\n`);
  keep('licensing.key', `${app.api_key}\n`);
  mkdirSync(join(home, 'bin'));
  keep('bin/pass', `#!/bin/sh\necho ${app.api_key}\n`);
  chmodSync(join(home, 'bin/pass'), 0o755);
  return { home, sandbox };
}

/**
 * The session with what comes out now; a line that differs in what is another every time stays as it is. Throws where a
 * line failed, so that `npm run golden` never writes what a server said that was too slow.
 */
async function rerun(session: string, page: string, { home, sandbox }: Place): Promise<string> {
  const parts = session.split(/^(?=\$ )/m);
  const typed = parts.map((part) => part.split('\n')[0] ?? '');
  const script = typed.map((line) => `${realOf(line.slice(2), sandbox)}\nprintf '\\036%s\\036' $?`).join('\n');
  const env = { NO_COLOR: '1', TZ: 'UTC', PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
  const terminal = openTerminal(script, { home, columns: 100, env });
  let isOver = false;
  onTestFailed(() => {
    const line = typed[Math.floor(terminal.output().split('\u001e').length / 2)];
    if (!isOver) process.stderr.write(`${page}: this line did not end: ${line}\n`);
  });
  const pieces = (await terminal.ended).output.split('\u001e');
  isOver = true;
  return parts
    .map((part, index) => {
      const [output = '', code] = pieces.slice(2 * index);
      const text = settled(shown(output), part);
      // A line that may fail shows its exit code, which is typed by hand.
      if (code !== '0' || codesIn(text) !== codesIn(part))
        throw new Error(`${page}: this line failed (exit code ${code}): ${typed[index]}\n${text}`);
      return `${typed[index]}\n${text}`;
    })
    .join('');
}

function codesIn(text: string): string | undefined {
  return text.match(/^exit code .*$/gm)?.join();
}

function realOf(line: string, { licensing, chat }: Sandbox): string {
  return line
    .replaceAll('https://licenses.example.com', licensing.base_url)
    .replaceAll('https://chat.example.com', chat.site);
}

/** What is another every time: the moment, and the port. */
const passing = /\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ| \d\d:\d\d)|(?<=127\.0\.0\.1:)\d+/g;

function settled(output: string, before: string): string {
  const known = before.split('\n');
  const same = (line: string): string | undefined =>
    known.find((old) => old.replace(passing, '') === line.replace(passing, ''));
  return output
    .split('\n')
    .map((line) => same(line) ?? line)
    .join('\n');
}

/** What is left on the terminal of lines that were drawn over. */
function shown(output: string): string {
  return output
    .split('\n')
    .map((text) => text.split('\r\u001b[K').at(-1) ?? '')
    .join('\n');
}

function replaceBetween(text: string, name: string, rows: readonly string[]): string {
  const pattern = new RegExp(`(<!-- ${name} -->\n).*?(<!-- end -->)`, 's');
  expect(text).toMatch(pattern);
  return text.replace(pattern, (_all, begin: string, end: string) => `${begin}${rows.join('\n')}\n${end}`);
}

function exitRows(): string[] {
  const rows = Object.entries(failures).map(
    ([name, { exit, means }]) => `| ${exit} | ${nameOf(name as FailureKind).replace('_', '-')} | ${means} |`,
  );
  return [
    '',
    '| Exit code | Name | When |',
    '|---|---|---|',
    '| 0 | ok | done, an empty result included |',
    ...rows,
    '',
  ];
}
