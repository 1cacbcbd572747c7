import { describe, expect, test } from 'vitest';
import { openSandbox, type Ran } from '../helpers/run.ts';

async function ran(line: string): Promise<Ran> {
  return (await openSandbox()).run(line);
}

describe('what nobody has that name: those that come near are named, with what to type', () => {
  test.each([
    ['messages fetch --sender "Ines Okafr"', 6, "no user 'Ines Okafr'; Ines Okafor is --sender 10"],
    ['messages fetch --sender Inez', 6, "no user 'Inez'; Ines Okafor is --sender 10"],
    ['messages fetch --dm ines@harbor.example', 6, "no user 'ines@harbor.example'; Ines Okafor is --dm 10"],
    ['messages fetch --channel generl', 6, "no channel 'generl'; general is id:1"],
    ['topic list genral', 5, "no channel 'genral'; general is id:1"],
    ['topic delete genral lunch --confirm lunch', 5, "no channel 'genral'; general is id:1"],
    ['snippet rm welcom', 5, "no snippet 'welcom'; Welcome is snippet rm 1"],
    ['messages fetch --channel generl --num-before 1', 6, "no channel 'generl'; general is id:1"],
    ['view hide reactions', 5, "the account has no view 'reactions'; near: narrow/has/reaction/sender/me"],
    ['view pin inbx', 5, "the account has no view 'inbx'; near: inbox"],
    ['view hide "alert word"', 5, "the account has no view 'alert word'; Alert Words is narrow/is/alerted"],
    [
      'view rename narrow/is/alertd X',
      5,
      "the account has no view 'narrow/is/alertd'; near: narrow/is/alerted, narrow/is/starred",
    ],
  ])('%s', async (line, exitCode, message) => {
    const result = await ran(`${line} -o json`);

    expect({ exitCode: result.exitCode, message: result.error?.message }).toEqual({ exitCode, message });
  });

  test('the server is asked for names on the way of the error alone', async () => {
    const paths: string[] = [];
    const { run } = await openSandbox({ log: ({ path }) => void paths.push(path) });

    await run('messages fetch --sender 10 --limit 1');
    expect(paths).not.toContain('/api/v1/users');
    await run("messages fetch --sender 'Ines Okafor' --limit 1");
    expect(paths.filter((path) => path === '/api/v1/users').length).toBe(1);
  });
});

describe('snippet rm', () => {
  test('takes a title, in any case', async () => {
    const { run } = await openSandbox();

    expect((await run('snippet rm "one key EACH" --no-header')).stdout).toBe('2\tdeleted\n');
    expect((await run('snippet list --fields id,title --no-header')).stdout).toBe('1\tWelcome\n');
  });

  test('refuses a title of several, and names their ids', async () => {
    const { run, sandbox } = await openSandbox();
    const [account] = sandbox.chat.accounts;
    const authorization = `Basic ${Buffer.from(`${account?.email ?? ''}:${account?.api_key ?? ''}`).toString('base64')}`;
    const body = new URLSearchParams({ title: 'Welcome', content: 'again' });
    await fetch(`${sandbox.chat.site}/api/v1/saved_snippets`, { method: 'POST', headers: { authorization }, body });

    const { exitCode, error } = await run('snippet rm welcome -o json');

    expect(exitCode).toBe(2);
    expect(error?.message).toMatch(/^'welcome' is the title of snippets 1, \d+$/);
  });

  test('on a terminal shows the titles and asks', async () => {
    const { run } = await openSandbox();

    const no = await run('snippet rm 1 2', { tty: true, stdin: 'n\n' });
    expect({ exitCode: no.exitCode, stderr: no.stderr }).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining("Delete 1 'Welcome', 2 'One key each'? [y/N]") as string,
    });
    expect((await run('snippet rm 1 --yes', { tty: true })).stdout).toBe('Snippet 1: deleted\n');
  });

  test('asks nothing for a dry run', async () => {
    const { exitCode, stdout, stderr } = await (await openSandbox()).run('snippet rm welcome -n', { tty: true });
    expect({ exitCode, asked: stderr.includes('?') }).toEqual({ exitCode: 0, asked: false });
    expect(stdout).toContain('/api/v1/saved_snippets/1');
  });
});

test('view list has the fragments that view pin takes', async () => {
  const { stdout } = await ran('view list -o json');

  expect(JSON.parse(stdout)).toContainEqual({ fragment: 'narrow/is/alerted', is_pinned: false, name: 'Alert Words' });
});

test.each([
  ['whoami', 'Did you mean auth status?'],
  ['messages search battery', 'Did you mean messages fetch --search WORDS?'],
  ['topic purge general lunch', 'Did you mean topic delete?'],
  ['view unpin inbox', 'Did you mean view hide?'],
  ['snippet delete 1', 'Did you mean snippet rm?'],
  ['license list --format json', 'Write -o FORMAT, as in -o json.'],
  [
    'archive pull https://chat.example/#narrow/channel/1-general',
    'The folder comes first; name the channel with --channel.',
  ],
  ['archive pull #narrow/channel/1-general', 'The folder comes first; name the channel with --channel.'],
  ['settings set color_scheme dark', 'Write color_scheme=dark, without blanks.'],
  ['license revoke x', 'license retire (the API cannot delete a license)'],
  ['topic delete lunch', 'The channel comes first:\n  chatelaine topic delete CHANNEL TOPIC'],
])('%s is exit 2 and names what is meant', async (line, advice) => {
  const { exitCode, stderr } = await ran(line);

  expect(exitCode).toBe(2);
  expect(stderr).toContain(advice);
});

test('a pattern without a star that finds nothing says how it is written', async () => {
  const { stderr } = await ran('license list --match north');

  expect(stderr).toBe("note: no user is named 'north': try --match '*north*'\nno licenses match\n");
});

test('an address is that of the user in any case', async () => {
  const { exitCode, stderr } = await ran('messages fetch --dm me,INES@HARBOUR.example');

  expect(exitCode).toBe(0);
  expect(stderr).toContain("'INES@HARBOUR.example' is Ines Okafor (id 10)");
});
