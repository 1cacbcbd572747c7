import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openBrowser } from '../helpers/chromium.ts';
import { expectGolden } from '../helpers/golden.ts';
import { needs } from '../helpers/needs.ts';
import { pictureOf, type Theme } from '../helpers/picture.ts';
import { emptyHome, openTerminal, type Terminal } from './pty.ts';

/** The pictures of README, made from real runs; `npm run golden` makes them again. */

const roster = 'remote_user,size_allowance\nclinic-north/ward-3,8\nphysio-7731,4\nlinus,2\n';
/** What is another every time: the port, and the name of a run. */
const passing = /(?<=127\.0\.0\.1):\d+|(?<=license undo --sandbox )\w+/g;

const picture = 'docs/pictures/archive.png';
/** The SHA-256 of the page that the picture shows. */
const sumFile = 'docs/pictures/archive.sha256';
const shownPage = 'messages-0001.html';

interface Session {
  readonly name: string;
  readonly lines: readonly string[];
  /** What the questions are answered with, when they are on the screen. */
  readonly answers: readonly (readonly [RegExp, string])[];
}

const sessions: readonly Session[] = [
  {
    name: 'apply',
    lines: ['cat roster.csv', 'chatelaine --sandbox license apply roster.csv'],
    answers: [[/\[y\/N\]/, 'y\n']],
  },
  {
    name: 'topic-delete',
    lines: ["chatelaine --sandbox topic delete general 'calibration log' --archive log"],
    answers: [[/the name of the topic|Type .*:/, 'calibration log\n']],
  },
];

test.each(sessions)('$name is what a terminal shows', needs('terminals'), async ({ name, lines, answers }) => {
  const home = emptyHome();
  writeFileSync(join(home, 'roster.csv'), roster);
  const script = lines.map((line) => `printf '%s\\n' ${quoted(`$ ${line}`)}; ${line}`).join('; ');
  const env = { COLORTERM: '', FORCE_COLOR: '1', TZ: 'UTC' };
  const terminal = openTerminal(script, { home, columns: 96, env });
  await answered(terminal, answers);
  const { exitCode, output } = await terminal.ended;

  expect(exitCode, output).toBe(0);
  for (const theme of ['light', 'dark'] as const satisfies readonly Theme[])
    await expectGolden(
      pictureOf(
        output.replaceAll(passing, (found) => (found.startsWith(':') ? '' : 'VDX6')),
        theme,
      ),
      `docs/pictures/${name}-${theme}.svg`,
    );
});

test('archive.png shows a page of an archive', { ...needs('chromium'), ...needs('terminals') }, async () => {
  const home = emptyHome();
  const pull = 'chatelaine --sandbox archive pull general --channel general -q';
  const { exitCode, output } = await openTerminal(
    `${pull} && chatelaine --sandbox archive export general -o html --to site -q`,
    { home, env: { TZ: 'UTC' } },
  ).ended;
  expect(exitCode, output).toBe(0);
  const page = join(home, 'site', shownPage);
  // Chromium of each year draws other pixels: the page that was drawn is compared, and the picture when that differs.
  const sum = createHash('sha256').update(readFileSync(page, 'utf8').replaceAll(passing, '')).digest('hex');
  if (process.env['npm_lifecycle_event'] === 'golden' && sum !== readFileSync(sumFile, 'utf8').trim()) await draw(page);
  await expectGolden(`${sum}\n`, sumFile);
  expect(statSync(picture).size).toBeLessThan(150 * 1024);
});

async function draw(page: string): Promise<void> {
  const browser = await openBrowser();
  try {
    await browser.call('Emulation.setDeviceMetricsOverride', {
      ...{ width: 900, height: 640, deviceScaleFactor: 1, mobile: false },
    });
    await browser.open(pathToFileURL(page).href);
    const { data } = await browser.call('Page.captureScreenshot', { format: 'png' });
    writeFileSync(picture, Buffer.from(String(data), 'base64'));
  } finally {
    await browser.close();
  }
}

async function answered(terminal: Terminal, answers: Session['answers']): Promise<void> {
  for (const [question, answer] of answers) {
    await terminal.shows(question);
    terminal.type(answer);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
