import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox, runAlone, type Ran, type RunOptions } from '../../helpers/run.ts';

const rowsIn = ({ stdout }: Ran): unknown => (stdout === '' ? [] : JSON.parse(stdout));
const runOf = ({ stderr }: Ran): string => /settings undo (\w{4})/.exec(stderr)?.[1] ?? 'none';
const historyOf = (home: string): string =>
  readFileSync(join(home, '.local/state/chatelaine/history-2026.ndjson'), 'utf8');

async function opened(featureLevel?: number) {
  const { run } = await openSandbox(featureLevel === undefined ? {} : { featureLevel });
  const home = emptyHome();
  const once = (line: string, options: RunOptions = {}): Promise<Ran> => run(line, { home, ...options });
  const values = async (names: string): Promise<unknown> =>
    (rowsIn(await once(`settings get ${names} -o json`)) as { value: unknown }[]).map(({ value }) => value);
  return { home, once, values };
}

test('settings set shows what each setting was, and the line that undoes it', async () => {
  const { once } = await opened();

  const set = await once('settings set color_scheme=dark timezone=Europe/Berlin emojiset=google -o json');

  expect(rowsIn(set)).toEqual([
    ...[
      {
        name: 'color_scheme',
        value: 2,
        value_name: 'dark',
        value_before: 1,
        change: 'automatic -> dark',
        status: 'set',
      },
    ],
    expect.objectContaining({
      name: 'timezone',
      value: 'Europe/Berlin',
      change: expect.stringContaining(' -> Europe/Berlin') as string,
    }),
    { name: 'emojiset', value: 'google', status: 'unchanged' },
  ]);
  expect(set.stderr).toMatch(/^2 settings were changed; to undo it:\n {2}chatelaine settings undo \w{4}\n$/);
  expect((await once('settings set color_scheme=dark')).stderr).toBe('');
});

test('a run is undone, and the undoing too; without a name the last that is no undo and not undone', async () => {
  const { once, values } = await opened();
  await once('settings set color_scheme=light timezone=Asia/Calcutta');
  await once('settings set color_scheme=dark full_name=Ada');
  const second = await once('settings set timezone=UTC');
  const plan = await once('settings undo --dry-run -o json');
  expect(rowsIn(plan)).toMatchObject([{ method: 'PATCH', body: expect.stringContaining('timezone=') as string }]);

  const undone = await once(`settings undo ${runOf(second).toLowerCase()} -y -o json`);
  expect(rowsIn(undone)).toMatchObject([{ name: 'timezone', status: 'undone' }]);
  expect(await values('timezone')).toEqual(['Asia/Calcutta']);
  const next = await once('settings undo', { tty: true, stdin: 'y\n' });
  expect(next.stderr).toContain('put back  color_scheme');
  expect(next.stderr).toContain('Put 2 settings back?');
  expect(await values('color_scheme')).toEqual([3]);
  const redone = await once(`settings undo ${runOf(next)} -y`);
  expect(redone.exitCode).toBe(0);
  expect(await values('color_scheme full_name')).toEqual([2, 'Ada']);
});

test('what was changed since is named and left alone, exit 8; the rest is put back; again nothing is left to do', async () => {
  const { once, values } = await opened();
  const set = await once('settings set color_scheme=dark twenty_four_hour_time=true');
  await once('settings set color_scheme=light');

  const undone = await once(`settings undo ${runOf(set)} -y -o json`);

  expect(undone.exitCode).toBe(8);
  expect(undone.error?.message).toBe('color_scheme is left alone: it is light by now, and the run left dark');
  expect(await values('color_scheme twenty_four_hour_time')).toEqual([3, false]);
  const again = await once(`settings undo ${runOf(set)} -y -o json`);
  expect({ exit: again.exitCode, rows: rowsIn(again) }).toEqual({
    exit: 8,
    rows: [{ name: 'twenty_four_hour_time', value: false, status: 'unchanged' }],
  });
});

test('nothing to undo is 5; a script names the run; a run of another account is 3', async () => {
  const { once } = await opened();

  expect((await once('settings undo ABCD -y')).exitCode).toBe(5);
  expect((await once('settings undo -y')).exitCode).toBe(2);
  const set = await once('settings set color_scheme=dark');
  expect(
    await once(`settings undo ${runOf(set)} -y`, { env: { CHATELAINE_CHAT_EMAIL: 'noor@harbour.example' } }),
  ).toMatchObject({ exitCode: 3 });
  expect((await once('license undo --dry-run')).exitCode).toBe(5);
});

test('what the server refuses or ignores is no change; passwords and addresses are never recorded', async () => {
  const { home, once } = await opened();
  const bad = await once('settings set --raw a_setting_of_tomorrow=1 color_scheme=dark -o json');
  expect(bad.exitCode).toBe(6);
  const secret = 'old_password=Tr0ub4dor&3-old\nnew_password=Tr0ub4dor&3-new\nemail=other@harbour.example\n';
  await once('settings set --from -', { stdin: secret });

  const recorded = historyOf(home);
  expect(recorded).not.toMatch(/Tr0ub4dor|other@harbour|password/);
  expect(recorded).toContain('"setting":"color_scheme","value":2,"value_before":1');
  const undone = await once(`settings undo ${runOf(bad)} -y -o json`);
  expect(rowsIn(undone)).toMatchObject([{ name: 'color_scheme', status: 'undone' }]);
});

test('a server that does not tell its settings: said once, and set goes on', async () => {
  const { once } = await opened(88);

  const set = await once('settings set color_scheme=dark timezone=UTC -o json');

  expect(set.exitCode).toBe(0);
  expect(set.stderr).toBe(
    'this server does not tell the settings of an account: it has 88; what the account had is neither shown nor recorded\n',
  );
  expect(rowsIn(set)).toMatchObject([
    { name: 'color_scheme', status: 'set' },
    { name: 'timezone', status: 'set' },
  ]);
});

test('the line that undoes a run in the embedded sandbox names it', async () => {
  const home = emptyHome();
  const set = await runAlone('--sandbox settings set color_scheme=dark', { home, bare: true });

  expect(set.stderr).toMatch(/\n {2}chatelaine settings undo \w{4} --sandbox\n/);
  expect((await runAlone(`--sandbox settings undo ${runOf(set)} -y`, { home, bare: true })).exitCode).toBe(0);
});

test('what the server does not take, or did not tell, is left alone', async () => {
  const { once } = await opened();
  const set = await once('settings set timezone=UTC');

  const undone = await once(`settings undo ${runOf(set)} -y`);

  expect(undone.exitCode).toBe(8);
  expect(undone.stderr).toContain("timezone is left alone: it was '', which settings set refuses");
});

test.each([89, 372, 390, 421])('at level %i a run is shown, recorded and undone', async (level) => {
  const { once, values } = await opened(level);
  const set = await once('settings set color_scheme=dark -o json');

  expect(rowsIn(set)).toMatchObject([{ change: 'automatic -> dark', status: 'set' }]);
  expect((await once(`settings undo ${runOf(set)} -y`)).exitCode).toBe(0);
  expect(await values('color_scheme')).toEqual([1]);
});
