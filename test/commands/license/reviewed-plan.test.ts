import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LicenseRecord } from '../../../src/sandbox/records.ts';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import type { SandboxOptions } from '../../helpers/sandbox.ts';
import { emptyHome, fakeService, openSandbox, run as runWith } from '../../helpers/run.ts';

const license = (license_code: string, remote_user: string, size_allowance = 4): LicenseRecord => ({
  license_code,
  remote_user,
  app_code: 4711,
  size_allowance,
  created: '2026-03-01T12:00:00Z',
});

const seeded = [license('key-ADA1', 'ada'), license('key-BEN1', 'ben', 3), license('key-EVE1', 'eve')];
const roster = 'remote_user,size_allowance\nada,4\nben,5\ncy,2\n';

type Seed = Parameters<NonNullable<SandboxOptions['seed']>>[0];

/** A server with three licenses, and a plan for it: ada unchanged, ben 3 -> 5, cy new, eve retired. */
async function planned() {
  let state: Seed | undefined;
  let heard: (entry: LogEntry) => void = () => undefined;
  const writes: string[] = [];
  const sandbox = await openSandbox({
    seed: (own) => {
      for (const { license_code } of own.licenses.rows()) own.licenses.remove(license_code);
      for (const row of seeded) own.licenses.put(row.license_code, row);
      state = own;
    },
    log: (entry) => {
      if (entry.method !== 'GET') writes.push(entry.method);
      heard(entry);
    },
  });
  const home = emptyHome();
  const file = join(home, 'plan.ndjson');
  const made = await sandbox.run(
    `license apply - --input-format csv --retire-missing --dry-run --write-plan ${file} -o json`,
    { home, stdin: roster },
  );
  expect(made.exitCode).toBe(0);
  const licenses = () => sandbox.sandbox.state.licenses();
  const held = () =>
    licenses()
      .map(({ remote_user, size_allowance }) => `${remote_user} ${size_allowance}`)
      .sort();
  const apply = (words = '') => sandbox.run(`license apply --plan ${file} -o json ${words}`, { home: emptyHome() });
  const put = (row: LicenseRecord) => state?.licenses.put(row.license_code, row);
  const when = (what: (entry: LogEntry) => void) => void (heard = what);
  return { ...sandbox, made, file, held, apply, put, when, writes };
}

const all = ['ada 4', 'ben 5', 'cy 2', 'left-2026-03-eve-EVE1 1'];

test('a plan is a line a license without keys, and is carried out on another computer, once', async () => {
  const { made, file, held, apply, writes } = await planned();
  const text = readFileSync(file, 'utf8');
  expect(text.split('\n').slice(1)).toEqual([
    '{"change":"unchanged","remote_user":"ada","app_code":4711,"size_allowance":4,"license_code_end":"ADA1"}',
    '{"change":"resize","remote_user":"ben","app_code":4711,"size_allowance":5,"size_allowance_before":3,"license_code_end":"BEN1"}',
    '{"change":"create","remote_user":"cy","app_code":4711,"size_allowance":2}',
    '{"change":"retire","remote_user":"eve","app_code":4711,"size_allowance":1,"size_allowance_before":4,"license_code_end":"EVE1"}',
    '',
  ]);
  expect(text).not.toContain('key-');
  expect(made.stderr).toContain(`chatelaine license apply --plan ${file}`);
  const ran = await apply();
  expect({ exitCode: ran.exitCode, held: held() }).toEqual({ exitCode: 0, held: all });
  const sent = writes.length;
  expect((await apply()).exitCode).toBe(0);
  expect({ held: held(), sent: writes.length }).toEqual({ held: all, sent });
});

test('what is as the plan makes it is done already', async () => {
  const { held, apply, put, writes } = await planned();
  put(license('key-BEN1', 'ben', 5));
  put(license('key-CY01', 'cy', 2));
  put(license('key-EVE1', 'left-2026-02-eve-EVE1', 1));
  expect((await apply()).exitCode).toBe(0);
  expect({ held: held(), writes }).toEqual({ held: ['ada 4', 'ben 5', 'cy 2', 'left-2026-02-eve-EVE1 1'], writes: [] });
});

describe('where a license would be decided otherwise now, nothing is sent', () => {
  test.each<[string, readonly LicenseRecord[], string]>([
    [
      'another size',
      [license('key-BEN1', 'ben', 7)],
      'ben: changed meanwhile: the plan says resize 3 -> 5, and now there is a license of size 7',
    ],
    [
      'another license of the same size',
      [license('key-BEN1', 'zoe', 3), license('key-BEN2', 'ben', 3)],
      'ben: changed meanwhile: the plan says resize 3 -> 5, and now there is another license of size 3',
    ],
    [
      'a license that came',
      [license('key-CY01', 'cy', 9)],
      'cy: changed meanwhile: the plan says create, and now there is a license of size 9',
    ],
    [
      'a license that went',
      [license('key-ADA1', 'zoe')],
      'ada: changed meanwhile: the plan says unchanged, and the license is gone',
    ],
    [
      'a license of a similar name that came',
      [license('key-CY02', 'CY')],
      "cy: the server lists no license of 'cy', but one of the similar name 'CY'",
    ],
    [
      'one to be retired that was resized',
      [license('key-EVE1', 'eve', 5)],
      'eve: the plan retires the license that ends with EVE1, which is not as it says',
    ],
  ])('%s', async (_what, rows, problem) => {
    const { held, apply, put, writes } = await planned();
    for (const row of rows) put(row);
    const before = held();
    for (const words of ['', '--dry-run']) {
      const ran = await apply(words);
      expect(ran.exitCode).toBe(10);
      expect(ran.stderr).toContain(problem);
      expect(ran.stderr).toContain('nothing was sent: a license would not change as planned');
    }
    expect({ held: held(), writes }).toEqual({ held: before, writes: [] });
  });

  test('one that changes after that fails alone, and nobody is retired', async () => {
    const { held, apply, put, when } = await planned();
    // The list for those to be retired, and the looks at three users, are the check.
    let reads = 0;
    when(({ method }) => {
      reads += 1;
      if (method === 'GET' && reads === 4) put(license('key-BEN1', 'ben', 9));
    });
    const ran = await apply('--concurrency 1');
    expect(ran.exitCode).toBe(8);
    const rows = JSON.parse(ran.stdout) as { remote_user: string; status: string; error: string | null }[];
    expect(rows.map(({ remote_user, status, error }) => `${remote_user} ${status} ${error ?? ''}`.trim())).toEqual([
      'ada unchanged',
      'ben failed changed meanwhile: somebody resized it to 9',
      'cy created',
    ]);
    expect(held()).toEqual(['ada 4', 'ben 9', 'cy 2', 'eve 4']);
  });
});

test('a plan for another server is refused', async () => {
  const { file, held } = await planned();
  const other = await openSandbox();
  const ran = await other.run(`license apply --plan ${file} -o json`);
  expect({ exitCode: ran.exitCode, message: ran.error?.message }).toEqual({
    exitCode: 3,
    message: expect.stringMatching(/is a plan for http\S+, and the credential is for http/) as string,
  });
  expect(held()).toContain('eve 4');
});

test('every bad line of a plan is named, and a newer version says so', async () => {
  const { file, run } = await planned();
  const [head = '', ada = ''] = readFileSync(file, 'utf8').split('\n');
  const apply = async ([first = '', ...lines]: readonly string[], rows = lines.length) => {
    const counted = first.replace(/"rows":\d+/, `"rows":${rows}`);
    writeFileSync(file, [counted, ...lines].map((line) => `${line}\n`).join(''));
    const { exitCode, error } = await run(`license apply --plan ${file} -o json`);
    return { exitCode, problems: error?.problems ?? [error?.message] };
  };
  const bad = [
    ada.replace('unchanged', 'remove'),
    ada.replace('4711', '4712'),
    ada.replace(':4,', ':99,'),
    ada.replace('"ada"', '7'),
    ada.replace('{', '{"size_allowance_before":"4",'),
    ada.replace(/,"license_code_end":"\w+"/, ''),
    'ada,4',
  ];
  expect(await apply([head, ada, ...bad, ada])).toEqual({
    exitCode: 2,
    problems: [
      ...bad.map((_line, index) => `${file}:${index + 3}: not a row of a plan`),
      `${file}:${bad.length + 3}: a license that is planned above`,
    ],
  });
  expect(await apply([head, ada], 2)).toEqual({ exitCode: 2, problems: [`${file}: 1 row of a plan of 2`] });
  for (const other of ['remote_user', head.replace('4711', '"4711"'), head.replace(/"server":"[^"]*"/, '"server":1')])
    expect(await apply([other, ada])).toEqual({ exitCode: 2, problems: [`${file}: not a plan of license apply`] });
  expect(await apply([head.replace('"license_plan":1', '"license_plan":2'), ada])).toEqual({
    exitCode: 3,
    problems: [`${file} has format version 2; this program reads 1`],
  });
});

test.each([
  ['roster.csv --plan plan.ndjson', 'give either one roster (FILE or --file FILE) or --plan FILE'],
  ['--plan plan.ndjson --size-allowance 3', '--size-allowance applies to a roster, and --plan has none'],
  ['--plan plan.ndjson --retire-missing', '--retire-missing applies to a roster, and --plan has none'],
  ['roster.csv --write-plan plan.ndjson', '--write-plan needs --dry-run'],
  ['roster.csv --dry-run --write-plan ./roster.csv', '--write-plan names the roster itself'],
])('license apply %s is refused', async (words, message) => {
  const ran = await runWith(fakeService(), `license apply ${words} -o json`);
  expect({ exitCode: ran.exitCode, message: ran.error?.message }).toEqual({ exitCode: 2, message });
});
