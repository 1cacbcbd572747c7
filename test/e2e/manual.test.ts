import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { manualPages } from '../../src/cli/man.ts';
import type { Block } from '../../src/cli/manual/roff.ts';
import { commandTable } from '../../src/commands/index.ts';
import { openService, shell, temporaryHome } from './program.ts';

/** What the pages say to type, besides the examples of commands (test/examples.test.ts): bash runs it against a sandbox. */

const pages = await manualPages(commandTable);
const blocks = pages.flatMap(({ name, chapters }) =>
  chapters.flatMap(({ title, blocks }) => blocks.map((block) => ({ place: `${name}, ${title}`, block }))),
);

/** Scripts of a page, each once: some chapters are on several pages. */
const scripts = new Map(
  blocks.flatMap(({ place, block }) =>
    scriptsIn(block).map((script) => [script, `${place}: ${script.split('\n')[0] ?? ''}`]),
  ),
);

/** What is typed on a terminal, where test/e2e/passwords.test.ts has it. */
const interactive = ['chatelaine settings set old_password new_password'];

test.each([...scripts].map(([script, place]) => ({ place, script })))('$place', async ({ script }) => {
  if (interactive.includes(script)) {
    expect(readFileSync('test/e2e/passwords.test.ts', 'utf8')).toContain('settings set old_password new_password');
    return;
  }
  const { env } = await openService();
  const home = furnished(env);
  // The program of the home, which a signal to $! reaches; and the user that pages speak of has a license.
  const begin = 'unset -f chatelaine; chatelaine license ensure --remote-user ada --size-allowance 4 -q >ada; set -e';
  const text = `${begin}\n${placed(script, env, home)}`;
  const { code, stderr } = await shell(text, {
    home,
    env: { ...env, PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
    stdin: standardInput,
  }).ended;
  const errors = stderr.split('\n').filter((line) => line.startsWith('chatelaine: ') && !line.endsWith('SIGTERM'));
  expect({ code, errors }).toEqual({ code: 0, errors: [] });
});

test('recipes run a command that writes, one at a time where the CI can keep it so', () => {
  const text = blocks.flatMap(({ block }) => ('workflow' in block ? [block.lines.join('\n')] : [])).join('\n');
  expect(text).toMatch(/^concurrency: licenses$/m);
  expect(text).toMatch(/^ {2}resource_group: licenses$/m);
});

/** The commands of a block, together as they share variables; a server, which would not end by itself, gets a second. */
function scriptsIn(block: Block): string[] {
  if ('commands' in block) {
    const serving = /^chatelaine sandbox serve [^&]*$/;
    return block.commands.every((line) => serving.test(line))
      ? block.commands.map((line) => `timeout 1 ${line.replace(/^chatelaine/, 'bin/chatelaine')} || test $? -eq 124`)
      : [block.commands.join('\n')];
  }
  if (!('workflow' in block)) return [];
  const text = block.lines.join('\n');
  if (block.workflow === 'cron') return block.lines.map((line) => line.split(' ').slice(5).join(' '));
  const workflow = parse(text) as {
    jobs?: { apply: { steps: { run?: string }[] } };
    'apply-licenses'?: { script: string[] };
  };
  const found = [
    ...(workflow.jobs?.apply.steps ?? []).flatMap(({ run }) => run ?? []),
    ...(workflow['apply-licenses']?.script ?? []),
  ];
  expect(found.length).toBeGreaterThan(0);
  return found;
}

const standardInput = 'old_password=sandbox-password-of-mara\nnew_password=another-long-passphrase\n';

/** The sandbox in place of the servers that a page speaks of, and a license that exists in place of CODE. */
function placed(script: string, env: Readonly<Record<string, string>>, home: string): string {
  return script
    .replaceAll('https://licenses.example.com', env['CHATELAINE_BASE_URL'] ?? '')
    .replaceAll('https://chat.example.com', env['CHATELAINE_CHAT_SITE'] ?? '')
    .replaceAll('ada@example.com', env['CHATELAINE_CHAT_EMAIL'] ?? '')
    .replaceAll('--app-code 7 ', `--app-code ${env['CHATELAINE_APP_CODE'] ?? ''} `)
    .replaceAll('/srv/roster.csv', join(home, 'roster.csv'))
    .replace(/--exit-code$/m, '$& || test $? -eq 10')
    .replaceAll('edit CODE', 'edit CD3AE-2B80E-1662B-2FCA2');
}

/** A home with a roster, a profile, and the password managers that pages speak of. */
function furnished(env: Readonly<Record<string, string>>): string {
  const home = temporaryHome();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('chatelaine', `exec '${process.execPath}' '${resolve('bin/chatelaine.cjs')}' "$@"`);
  const key = env['CHATELAINE_API_KEY'] ?? '';
  program('secret-tool', `test "$1" = lookup && echo ${key} || cat >/dev/null`);
  program('pass', `test "$1" = show && echo ${key} || cat >/dev/null`);
  program('op', `echo ${env['CHATELAINE_CHAT_API_KEY'] ?? ''}`);
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nada,4\nphysio-7731,6\n');
  const folder = join(home, '.config', 'chatelaine');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const url = env['CHATELAINE_BASE_URL'] ?? '';
  const prod = { kind: 'licensing', base_url: url, app_code: Number(env['CHATELAINE_APP_CODE']) };
  const entry = { origin: new URL(url).origin, api_key: key };
  const keep = (name: string, content: object): void =>
    writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 });
  keep('config.json', { version: 1, defaults: { licensing: 'prod' }, profiles: { prod } });
  keep('credentials.json', { version: 1, keys: { prod: entry } });
  return home;
}
