import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { displayWidth } from '../../src/output/width.ts';
import { licenseCode } from '../../src/sandbox/sample/organization.ts';
import { expectGolden } from '../helpers/golden.ts';
import { emptyHome, openSandbox, type RunOptions } from '../helpers/run.ts';
import { fixedClock } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';

/**
 * What a terminal of 80 columns shows of each command's usual result, a table also at 60 and 120 columns: one golden
 * file a command. `npm run golden` writes them; look at them before they are committed.
 */

const widths = [60, 80, 120] as const;

/** The lines typed for each command; {home} is a folder with the files that they read. */
const typed: Readonly<Record<string, readonly string[]>> = {
  'license create': ['license create --remote-user ada@example.com --size-allowance 4'],
  'license list': ['license list', 'license list --remote-user nobody', 'license list --since 2026-01-01'],
  'license view': [`license view ${licenseCode(3)}`, 'license view --remote-user physio-7731'],
  'license ensure': [
    'license ensure --remote-user physio-7740 --size-allowance 5 --dry-run',
    'license ensure --remote-user physio-7731 --size-allowance 4',
  ],
  'license apply': [
    'license apply {home}/roster.csv --dry-run',
    'license apply {home}/same.csv --dry-run',
    'license apply {home}/review.csv --dry-run',
    'license apply {home}/roster.csv --dry-run -o markdown',
    'license apply {home}/roster.csv --yes',
  ],
  'license edit': [
    `license edit ${licenseCode(5)} --size-allowance 6 --dry-run`,
    `license edit ${licenseCode(5)} --size-allowance 6`,
  ],
  'license rename': ['license rename physio-7731 physio-7800 -n -v', 'license rename physio-7731 physio-7800'],
  'license retire': [
    `license retire ${licenseCode(5)} --dry-run`,
    `license retire ${licenseCode(5)} --yes`,
    `license edit ${licenseCode(5)} --remote-user physio-7731 --size-allowance 6`,
  ],
  'license history': ['license history'],
  'license undo': ['license undo --dry-run', 'license undo --yes', 'license undo 7K2F'],
  'license audit': ['license audit --roster {home}/roster.csv'],
  'first-activation': ['first-activation D422CD000301', 'first-activation D422CD000301 D422CD000303'],
  'first-activation audit': ['first-activation audit {home}/sensors.csv'],
  'settings set': ['settings set color_scheme=dark timezone=Europe/Berlin'],
  'settings list': ['settings list'],
  'settings describe': ['settings describe color_scheme'],
  'messages fetch': [
    'messages fetch --channel general --limit 6',
    'messages fetch --channel general --limit 6 -o table',
    'messages fetch --channel general --topic nothing',
    "messages fetch '#narrow/channel/1-general/topic/who.20has.20dock.204.3F/near/1451'",
    'messages fetch https://other.example.org/#narrow/channel/1-general',
    "messages fetch --sender 'Ines Okafor'",
    'messages fetch --channel general --since thursday --limit 1',
  ],
  'settings get': ['settings get color_scheme timezone'],
  'archive pull': ['archive pull {home}/kitchen --channel general --topic lunch --both', 'archive pull {home}/kitchen'],
  'archive list': ['archive list {home} --fields folder,account,selection,messages,complete'],
  'archive verify': ['archive verify {home}/kitchen'],
  'archive export': [
    'archive export {home}/kitchen -o text --to {home}/kitchen.txt',
    'archive export {home}/kitchen -o csv',
  ],
  'channel list': ['channel list'],
  'topic list': ['topic list --all-channels', 'topic list general', "topic list general --match 'x*'"],
  'topic delete': ['topic delete general lunch --dry-run'],
  'topic history': ['topic delete general lunch --confirm lunch --no-archive --quiet', 'topic history'],
  'view pin': ['view pin narrow/is/starred'],
  'view hide': ['view hide narrow/is/starred'],
  'view rename': ['view rename narrow/is/alerted Alerts'],
  'snippet rm': ['snippet rm 1 --yes'],
  'view list': ['view list'],
  'snippet list': ['snippet list'],
  'auth login': ['auth login licensing --base-url {licensing} --app-code 4711 --name app --api-key-file {home}/key'],
  'auth import': ['auth import {home}/zuliprc --name imported'],
  'auth status': ['auth status'],
  'auth use': ['auth use app'],
  'auth token': ['auth token app'],
  'auth logout': ['auth logout imported'],
  doctor: [
    'doctor',
    'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --name away --no-check --api-key-file {home}/key',
    'auth import {home}/wrongrc --name wrong --no-check',
    'doctor',
  ],
  'sandbox reset': ['sandbox reset'],
};

/**
 * What serves until it is stopped (test/e2e has it), what needs a database (test/commands/ledger has it), what prints a
 * text as it is, and what test/golden holds already.
 */
const without = new Set(
  'sandbox serve|ledger init|ledger status|api licensing|api chat|commands|completion'.split('|'),
);

test('each command has a screen', () => {
  const names = commandTable.map(({ name }) => name).filter((name) => !without.has(name));
  const advice = 'give the command lines in `typed` above: npm run golden then writes its screen, which you read';
  expect(Object.keys(typed).toSorted(), advice).toEqual(names.toSorted());
});

/** Lines after which all others show the same. */
const leavesNothing =
  / --dry-run|^(doctor|license (view|audit)|messages|settings (get|describe)|archive (verify|export)) ?/;

test('the screens', needs('shell'), async () => {
  const screens = new Map(Object.keys(typed).map((name) => [name, '']));
  const tables = await commandsWithTables();
  for (const columns of widths) {
    const show = await opened(columns);
    for (const [name, lines] of Object.entries(typed))
      for (const line of lines) {
        const isShown = columns === 80 || tables.has(name);
        if (!isShown && leavesNothing.test(line)) continue;
        const text = await show(line);
        if (isShown) screens.set(name, `${screens.get(name) ?? ''}${text}`);
      }
  }

  for (const [name, text] of screens) await expectGolden(text, `test/golden/screens/${name.replaceAll(' ', '-')}.txt`);
});

async function commandsWithTables(): Promise<ReadonlySet<string>> {
  const commands = await Promise.all(commandTable.map(({ load }) => load()));
  return new Set(
    commands.flatMap(({ name, show }) => (show?.columns !== undefined && !show.line && !show.text ? [name] : [])),
  );
}

test('a container whose folders cannot be written', needs('root'), async () => {
  const lines = ['doctor', ...(typed['license ensure'] ?? []), '--sandbox license list'];
  let text = '';
  const show = await opened(80, { XDG_STATE_HOME: '/dev/null/state' });
  for (const line of lines) text += await show(line);
  await expectGolden(text, 'test/golden/screens/read-only-container.txt');
});

/** Runs lines one after another against one sandbox and home; what each shows on a terminal of that width. */
async function opened(columns: number, added: RunOptions['env'] = {}): Promise<(line: string) => Promise<string>> {
  // Wherever TMPDIR is: lines are wrapped by the length of its path.
  const home = emptyHome('/tmp');
  const { run, env } = await openSandbox({ clock: standing });
  writeFiles(home, env);
  const secrets = env['CHATELAINE_CHAT_API_KEY'] ?? '';
  return async (line) => {
    const words = line
      .replaceAll('{home}', home)
      .replaceAll('{licensing}', env['CHATELAINE_BASE_URL'] ?? '')
      .replaceAll('{chat}', env['CHATELAINE_CHAT_SITE'] ?? '');
    // Stored profiles serve the commands of credentials; all others take the environment.
    const bare = /^(auth|doctor)/.test(line);
    const { stdout, stderr } = await run(words, {
      tty: true,
      columns,
      home,
      bare,
      user: 'uid 0',
      clock: standing,
      env: { NO_COLOR: '1', USER: 'ada', ...added },
    });
    checkKept(stdout, columns, line);
    const shown = `${stdout}${stderr === '' ? '' : `--- stderr\n${stderr}`}`.replace(/[^\n]*\r\u001b\[K/g, '');
    // The name of a journal is a hash of what it is about, the port included.
    const named = shown.replace(/(?<=journals\/)[\da-f]{32}/g, '0'.repeat(32)).replace(runNames, '7K2F');
    const settled = named.replaceAll(home, '/home/ada').replace(/(?<=127\.0\.0\.1:|localhost:)\d+/g, '12345');
    return `=== ${columns} columns: chatelaine ${line}\n${settled.replaceAll(secrets, 'KEY-OF-THE-ACCOUNT')}\n`;
  };
}

/** No key is cut; no line of a table leaves the terminal at 80 and more, and no key, user or name is cut there. */
function checkKept(stdout: string, columns: number, line: string): void {
  expect.soft(stdout, line).not.toMatch(/[\dA-F]{5}-[\dA-F-]*…/);
  if (columns < 80 || /^(auth login|topic delete|sandbox reset|archive export)/.test(line)) return;
  const wide = stdout.split('\n').filter((text) => displayWidth(text) > columns);
  expect.soft(wide, line).toEqual([]);
  expect.soft(stdout, line).not.toMatch(/(?:^|\s)(?:[0-9a-f]{8,}|clinic-[\w/-]*|physio-\d*|[\w.]+@[\w.]*)…/m);
}

function writeFiles(home: string, env: Readonly<Record<string, string>>): void {
  const keep = (name: string, text: string): void => writeFileSync(join(home, name), text, { mode: 0o600 });
  mkdirSync(join(home, '.config'), { recursive: true, mode: 0o700 });
  keep('roster.csv', 'remote_user,size_allowance\nada,6\nclinic-north/ward-3,6\nphysio-7731,5\n');
  keep('review.csv', 'remote_user,size_allowance\nada,6\nPhysio-7731,4\nphysio-7740,1\nclinic-north/ward-3,9\n');
  keep('same.csv', 'remote_user,size_allowance\nphysio-7731,4\nphysio-7740,4\n');
  keep('sensors.csv', 'mac_address,remote_user\nD422CD000301,clinic-north/ward-3\nD422CD000302,physio-7740\n');
  keep('key', `${env['CHATELAINE_API_KEY'] ?? ''}\n`);
  keep(
    'zuliprc',
    `[api]\nemail=${env['CHATELAINE_CHAT_EMAIL'] ?? ''}\nkey=${env['CHATELAINE_CHAT_API_KEY'] ?? ''}\nsite=${env['CHATELAINE_CHAT_SITE'] ?? ''}\n`,
  );
  keep(
    'wrongrc',
    `[api]\nemail=${env['CHATELAINE_CHAT_EMAIL'] ?? ''}\nkey=${'a'.repeat(32)}\nsite=${env['CHATELAINE_CHAT_SITE'] ?? ''}\n`,
  );
}

/** The name of a run is drawn at random. */
const runNames =
  /(?<=(?:license|settings)\s+undo |\d\d:\d\d +|^run +)(?!4711)[\dA-HJKMNP-TV-Z]{4}\b|^[\dA-HJKMNP-TV-Z]{4}(?= {2})/gm;

const standing = fixedClock(Date.UTC(2026, 2, 9, 12));
