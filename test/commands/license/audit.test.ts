import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LicenseRecord } from '../../../src/sandbox/records.ts';
import { emptyHome, fakeService, openSandbox, run, type Ran } from '../../helpers/run.ts';

interface Finding {
  readonly finding: string;
  readonly remote_user: string | null;
  readonly license_code: string | null;
  readonly license: { readonly license_code: string } | null;
  readonly detail: string;
}

function findings({ stdout }: Ran): string[] {
  return (JSON.parse(stdout) as Finding[])
    .map(({ finding, remote_user, license_code }) => `${finding} ${remote_user ?? ''} ${license_code ?? ''}`.trim())
    .sort();
}

function license(license_code: string, remote_user: string, size_allowance = 4, app_code = 4711): LicenseRecord {
  return { license_code, remote_user, app_code, size_allowance, created: '2026-03-01T12:00:00Z' };
}

/** 50 licenses without a fault, and these. */
async function sandboxWith(planted: readonly LicenseRecord[]) {
  return openSandbox({
    seed: (state) => {
      for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
      for (let index = 0; index < 50; index += 1)
        state.licenses.put(`good-${index}`, license(`good-${index}`, `user-${index}`, 1 + (index % 18)));
      planted.forEach((row, index) => state.licenses.put(`${row.license_code}#${index}`, row));
    },
  });
}

const good = Array.from({ length: 50 }, (_, index) => `user-${index}`);

describe('finds each planted defect and no other', () => {
  test('none', async () => {
    const { run: ask } = await sandboxWith([]);

    const ran = await ask('license audit -o json');

    expect({ exitCode: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      exitCode: 0,
      stdout: '[]\n',
      stderr: 'no findings in 50 licenses\n',
    });
  });

  test('one of each', async () => {
    const { run: ask } = await sandboxWith([
      license('twice-1', 'user-7', 4),
      license('shared', 'ada'),
      license('shared', 'grace'),
      license('long', 'x'.repeat(128)),
      license('foreign', 'müller'),
      license('small', 'joan', 0),
      license('large', 'mary', 19),
      license('nobody', 'kate'),
      license('elsewhere', 'lent', 4, 4712),
    ]);
    const roster = ['remote_user', ...good, 'ada', 'grace', 'joan', 'mary', 'gone', ''].join('\n');

    const ran = await ask('license audit -o json --roster - --input-format csv', { stdin: roster });

    expect(ran.exitCode).toBe(10);
    expect(findings(ran)).toEqual(
      [
        'several-licenses user-7 good-7',
        'several-licenses user-7 twice-1',
        'shared-key ada shared',
        'shared-key grace shared',
        `bad-name ${'x'.repeat(128)} long`,
        'bad-name müller foreign',
        'bad-size joan small',
        'bad-size mary large',
        'missing gone',
        'unexpected kate nobody',
        `unexpected ${'x'.repeat(128)} long`,
        'unexpected müller foreign',
      ].sort(),
    );
    expect(ran.lines).toEqual(['12 findings in 58 licenses']);
  });
});

const list = 'GET /v1/license/';
const rows = [
  { license_code: 'K-1', remote_user: 'ada', size_allowance: 4 },
  { license_code: 'K-2', remote_user: 'grace', size_allowance: 4 },
];

test('users whose names differ only by case, runs of blanks, Unicode form or leading zeros are like one another', async () => {
  const { run: ask } = await sandboxWith([
    license('K-1', 'Ada Ward'),
    license('K-2', 'ada  ward'),
    license('K-3', '\uFF21da Ward'),
    license('K-4', '007'),
    license('K-5', '7'),
    license('K-6', 'adaward'),
    license('K-7', 'urn:x:1'),
    license('K-8', 'urn:x:12'),
    license('K-9', 'a-name-that-is-longer-than-thirty-characters'),
    license('K-10', 'a-name-that-is-longer-than-thirty'),
    license('K-11', 'ADA WARD', 4, 4712),
  ]);

  const ran = await ask('license audit -o json');

  const like = (JSON.parse(ran.stdout) as Finding[]).filter(({ finding }) => finding === 'similar-name');
  expect(ran.exitCode).toBe(10);
  expect(like.map(({ license: own, detail }) => `${own?.license_code ?? ''} ${detail}`)).toEqual([
    "K-2 like 'Ada Ward'",
    "K-3 like 'Ada Ward'",
    "K-5 like '007'",
  ]);
});

describe('sizes against the roster', () => {
  const sized = (license_code: string, remote_user: string, size_allowance: number) => ({
    license_code,
    remote_user,
    app_code: 7,
    size_allowance,
  });

  test('another size is a finding; of several licenses one of the right size is enough', async () => {
    const service = fakeService();
    const shown = [sized('K-1', 'ada', 4), sized('K-2', 'bob', 4), sized('K-3', 'eve', 2), sized('K-4', 'eve', 6)];
    service.expect('GET /v1/license/?app_code=7').reply(200, shown);

    const ran = await run(service, 'license audit --roster - -o json', {
      stdin: 'remote_user,size_allowance\nada,4\nbob,6\neve,6\n',
    });

    service.done();
    expect(findings(ran)).toEqual(['other-size bob K-2', 'several-licenses eve K-3', 'several-licenses eve K-4']);
    expect({ exitCode: ran.exitCode, message: ran.error?.message }).toEqual({ exitCode: 10, message: undefined });
    expect(ran.stdout).toContain('size_allowance is 4, and 6 in the roster');
  });

  test('a list that is not whole cannot show that a license is missing', async () => {
    const service = fakeService();
    const shown = { count: 9, results: [sized('K-2', 'bob', 4)] };
    service.expect('GET /v1/license/?app_code=7').reply(200, shown);

    const ran = await run(service, 'license audit --roster - -o json', {
      stdin: 'remote_user,size_allowance\nada,4\nbob,6\n',
    });

    service.done();
    expect(findings(ran)).toEqual(['other-size bob K-2']);
    expect({ exitCode: ran.exitCode, code: ran.error?.code }).toEqual({ exitCode: 8, code: 'incomplete' });
  });
});

describe('what servers may answer', () => {
  test('rows that do not name their application are of the one whose key listed them', async () => {
    const service = fakeService();
    service.expect('GET /v1/license/?app_code=7').reply(200, rows);

    const ran = await run(service, 'license audit --roster - -o json', { stdin: 'remote_user\nada\ngrace\n' });

    service.done();
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
  });

  test('a user that is there twice, by the own application, is refused', async () => {
    const ran = await run(fakeService(), 'license audit --roster - -o json', {
      stdin: 'remote_user,app_code\nada,7\ngrace,\nada,\n',
    });

    expect(ran.exitCode).toBe(2);
    expect(ran.error?.message).toBe("standard input:4: user 'ada' is already on line 2");
  });

  test('a license that is listed twice, because pages moved, is one license', async () => {
    const service = fakeService();
    service.expect(list).reply(200, { results: rows, next: 'https://licenses.test/v1/license/?page=2' });
    service.expect('GET /v1/license/?page=2').reply(200, { results: [rows[1]], next: null });
    service.expect(list).reply(200, { results: rows, next: null });

    const ran = await run(service, 'license audit -o json');

    service.done();
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
  });

  test('keys of any length of number, and names and sizes that are null', async () => {
    const service = fakeService();
    const body =
      '[{"license_code": 12345678901234567890, "remote_user": "ada", "size_allowance": 4},' +
      '{"license_code": 12345678901234567891, "remote_user": null, "size_allowance": 4},' +
      '{"license_code": 12345678901234567890, "remote_user": "grace", "size_allowance": null}]';
    service.expect(list).reply(200, body);

    const ran = await run(service, 'license audit -o tsv');

    service.done();
    expect({ exitCode: ran.exitCode, lines: ran.stdout.trimEnd().split('\n') }).toEqual({
      exitCode: 10,
      lines: [
        'finding\tremote_user\tapp_code\tsize_allowance\tlicense_code\tdetail',
        'bad-name\t\t7\t4\t12345678901234567891\tremote_user: the server does not say',
        'bad-size\tgrace\t7\t\t12345678901234567890\tsize_allowance: the server does not say',
        "shared-key\tada\t7\t4\t12345678901234567890\tone key of 'ada' and 'grace'",
        "shared-key\tgrace\t7\t\t12345678901234567890\tone key of 'ada' and 'grace'",
      ],
    });
  });

  test('a list without users cannot be audited, and is not called clean or bad', async () => {
    const service = fakeService();
    service.expect(list).reply(200, [{ license_code: 'K-1' }, { license_code: 'K-2' }]);

    const ran = await run(service, 'license audit -o json');

    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(ran.error?.message).toContain('does not say whose the licenses are');
  });
});

describe('an audit that is quiet again', () => {
  const planted = [
    license('twice-1', 'user-7', 4),
    license('small', 'joan', 0),
    license('key-AB12', 'left-2026-02-eve-AB12', 1),
    license('key-CD34', 'left-2026-02-eve-CD34', 1),
    license('key-EF56', 'left-2026-02-eve-ef56', 1),
  ];

  test('retired licenses are counted and not found; a name of that form with another size, or of another key, is', async () => {
    const { run: ask } = await sandboxWith([
      ...planted.slice(2),
      license('key-GH78', 'left-2026-02-ben-GH78', 2),
      license('key-IJ90', 'left-2026-02-cy-AB12', 1),
    ]);

    const ran = await ask('license audit --roster - --input-format csv -o json', {
      stdin: ['remote_user', ...good, ''].join('\n'),
    });

    expect(findings(ran)).toEqual([
      'unexpected left-2026-02-ben-GH78 key-GH78',
      'unexpected left-2026-02-cy-AB12 key-IJ90',
    ]);
    expect(ran.lines).toEqual(['2 findings in 55 licenses (3 retired)']);
  });

  test('csv has the columns of a roster, whatever the first finding is', async () => {
    const { run: ask } = await sandboxWith([]);
    const stdin = ['remote_user', 'nobody', ...good.slice(1), ''].join('\n');
    const { stdout } = await ask('license audit --roster - --input-format csv -o csv', { stdin });
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'finding,remote_user,app_code,size_allowance,license_code,detail',
      'missing,nobody,4711,,,"in the roster, without a license"',
      'unexpected,user-0,4711,1,good-0,not in the roster',
    ]);
  });

  test('a roster that was made from a list names retired users: they are not missing', async () => {
    const { run: ask } = await sandboxWith(planted.slice(2));
    const retired = planted.slice(2).map(({ remote_user }) => remote_user);

    const ran = await ask('license audit --roster - --input-format csv -o json', {
      stdin: ['remote_user', ...good, ...retired, ''].join('\n'),
    });

    expect([ran.stdout, ran.lines]).toEqual(['[]\n', ['no findings in 53 licenses (3 retired)']]);
  });

  test('accepted findings are counted, one whose values change is found again, and one that is gone is said', async () => {
    const sandbox = await sandboxWith(planted);
    const { run: ask } = sandbox;
    const home = emptyHome();
    const file = join(home, 'accepted.txt');

    const written = await ask(`license audit --write-accepted ${file}`, { home });
    const lines = [
      'bad-size: joan in application 4711: size_allowance',
      'several-licenses: user-7 in application 4711: 2 licenses',
    ];
    expect({ exitCode: written.exitCode, last: written.lines.at(-1) }).toEqual({
      exitCode: 0,
      last: `3 findings in 55 licenses (3 retired); accepted from now on by --accept ${file}`,
    });
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n').map((line, index) => line.slice(0, lines[index]?.length ?? 0))).toEqual([...lines, '']);

    writeFileSync(file, `# looked at in March\r\n\r\n${text.replace('2 licenses', '2 licenses # two sensors')}`);
    const quiet = await ask(`license audit --accept ${file}`, { home });
    expect({ exitCode: quiet.exitCode, stdout: quiet.stdout, lines: quiet.lines }).toEqual({
      exitCode: 0,
      stdout: expect.not.stringContaining('user-7') as string,
      lines: ['no findings in 55 licenses (3 retired, 3 accepted)'],
    });

    await ask('license create --remote-user user-7 --size-allowance 4', { home });
    appendFileSync(file, 'bad-size: eve in application 4711: 0\n');
    const again = await ask(`license audit --accept ${file} -o json`, { home });
    expect(again.exitCode).toBe(10);
    expect(findings(again).map((finding) => finding.split(' ').slice(0, 2).join(' '))).toEqual(
      Array(3).fill('several-licenses user-7'),
    );
    expect(again.lines).toEqual([
      'note: no longer found, remove its line: several-licenses: user-7 in application 4711: 2 licenses',
      'note: no longer found, remove its line: bad-size: eve in application 4711: 0',
      '3 findings in 56 licenses (3 retired, 1 accepted)',
    ]);

    const ruined = await ask(`license audit --roster ${file} --write-accepted ${file}`, { home });
    expect(ruined.stderr).toContain('--write-accepted names the roster itself');
    const rewritten = await ask(`license audit --accept ${file} --write-accepted ${file}`, { home });
    expect(rewritten.exitCode).toBe(0);
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      expect.stringMatching(/^bad-size: joan /),
      'several-licenses: user-7 in application 4711: 3 licenses',
      '',
    ]);
  });

  test('a line keeps its reason when the file is written again', async () => {
    const { run: ask } = await sandboxWith(planted);
    const home = emptyHome();
    const file = join(home, 'accepted.txt');
    const line = 'several-licenses: user-7 in application 4711: 2 licenses  # two sensors';
    writeFileSync(file, `${line}\n`);
    await ask(`license audit --accept ${file} --write-accepted ${file}`, { home });
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([expect.stringMatching(/^bad-size: joan/), line, '']);
  });

  test('every line that is no finding is named, before anything is asked', async () => {
    const home = emptyHome();
    const file = join(home, 'accepted.txt');
    writeFileSync(file, 'ada: 2 licenses\nbad-size: joan in application 7: 0\nsome-thing: eve in application 7: x\n');
    const ran = await run(fakeService(), `license audit --accept ${file} -o json`, { home });
    expect({ exitCode: ran.exitCode, problems: ran.error?.problems }).toEqual({
      exitCode: 2,
      problems: [
        `${file}:1: 'ada: 2 licenses' is not a finding`,
        `${file}:3: 'some-thing: eve in application 7: x' is not a finding`,
      ],
    });
  });

  test('a list that is not whole is not written down', async () => {
    const service = fakeService();
    const rows = [{ license_code: 'K-2', remote_user: 'bob', size_allowance: 0, app_code: 7 }];
    service.expect('GET /v1/license/').reply(200, { count: 9, results: rows });
    const home = emptyHome();
    const ran = await run(service, `license audit --write-accepted ${join(home, 'accepted.txt')}`, { home });
    expect({ exitCode: ran.exitCode, isWritten: existsSync(join(home, 'accepted.txt')) }).toEqual({
      exitCode: 8,
      isWritten: false,
    });
  });

  test('what an audit does not look for is neither gone nor lost', async () => {
    const { run: ask } = await sandboxWith(planted);
    const home = emptyHome();
    const file = join(home, 'accepted.txt');
    const kept = [
      'missing: gone in application 4711: in the roster, without a license # on leave',
      'shared-key: ada in application 4712: one key of two',
      'unexpected: kate in application 4711: not in the roster',
    ];
    const gone = 'bad-name: eve in application 4711: of long ago';
    writeFileSync(file, `${[gone, ...kept].join('\n')}\n`);
    const ran = await ask(`license audit --accept ${file} --write-accepted ${file} -o json`, { home });
    expect(ran.lines.filter((line) => line.startsWith('note: no longer'))).toEqual([
      `note: no longer found, remove its line: ${gone}`,
    ]);
    const text = readFileSync(file, 'utf8').split('\n');
    expect(text).toEqual(expect.arrayContaining(kept));
    expect(text).not.toContain(gone);

    const stdin = ['remote_user', ...good, 'joan', ''].join('\n');
    const whole = await ask(`license audit --accept ${file} --roster - --input-format csv -o json`, { home, stdin });
    expect(whole.lines.filter((line) => line.startsWith('note: no longer'))).toEqual(
      [kept[0]?.replace(/ #.*/, ''), kept[2]].map((line) => `note: no longer found, remove its line: ${line ?? ''}`),
    );
  });

  test('the order of the list changes no finding', async () => {
    const rows = [license('K-1', 'ada'), license('K-2', 'Ada'), license('K-3', 'eve'), license('K-3', 'bea')];
    const files = await Promise.all(
      [rows, rows.toReversed()].map(async (planted) => {
        const { run: ask } = await sandboxWith(planted);
        const file = join(emptyHome(), 'accepted.txt');
        await ask(`license audit --write-accepted ${file}`);
        return readFileSync(file, 'utf8');
      }),
    );
    expect(files[0]).toBe(
      [
        "shared-key: bea in application 4711: one key of 'bea' and 'eve'",
        "shared-key: eve in application 4711: one key of 'bea' and 'eve'",
        "similar-name: ada in application 4711: like 'Ada'",
        '',
      ].join('\n'),
    );
    expect(files[1]).toBe(files[0]);
  });
});
