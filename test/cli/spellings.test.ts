import { expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.ts';
import { fakeService, run } from '../helpers/run.ts';

const host = { system: { env: {} }, version: '9.9.9', stdout: {} };

/** What a line asks for: the words and options of a command, without those that are absent. */
async function readLine(line: string): Promise<object> {
  const request = await readCommandLine(line.split(' '), host as never);
  if (!('command' in request)) throw new Error('no command');
  const { command, words, typed } = request;
  const flags = typed.map(({ flag, text }) => [flag, text]).sort();
  return { name: command.name, words: { ...words }, flags };
}

test.each([
  ['messages fetch --message-ids 1,2', 'messages fetch --ids 1,2'],
  ['messages fetch --message_ids=1,2', 'messages fetch --ids=1,2'],
  ['messages fetch --apply-markdown=false --all', 'messages fetch --raw-content --all'],
  ['messages fetch --apply-markdown=true --all', 'messages fetch --no-raw-content --all'],
  ['messages fetch --apply_markdown', 'messages fetch --no-raw-content'],
  ['messages fetch --include-anchor=false', 'messages fetch --no-include-anchor'],
  ['messages fetch --client_gravatar=true', 'messages fetch --client-gravatar'],
  ['messages fetch --num_before 5 --num_after=0', 'messages fetch --num-before 5 --num-after 0'],
  ['first-activation --mac-address 001343FFFE9A017F', 'first-activation 001343FFFE9A017F'],
  ['first-activation a --mac_address b -o json --mac-address=c', 'first-activation -o json b c a'],
  ['license view --license-code k1', 'license view k1'],
  ['license edit --license_code=k1 --size_allowance=3', 'license edit k1 --size-allowance 3'],
  ['-o json license retire --license-code k1 -y', '-o json license retire k1 -y'],
  ['topic delete --topic-name lunch --stream-id 7 --dry-run', 'topic delete id:7 lunch --dry-run'],
  ['topic delete general --topic_name lunch', 'topic delete general lunch'],
  ['topic delete --stream-id general -- -x', 'topic delete general -- -x'],
  ['topic list --stream_id=7', 'topic list id:7'],
  ['view pin --fragment narrow/is/starred', 'view pin narrow/is/starred'],
  ['view rename --name Words --fragment narrow/is/alerted', 'view rename narrow/is/alerted Words'],
  ['view rename a b --is-pinned=true', 'view rename a b --pin'],
  ['view rename a b --is_pinned=false', 'view rename a b --hide'],
  ['snippet rm --saved-snippet-id 3', 'snippet rm 3'],
  [
    '--dry_run license ensure --remote_user ada --size_allowance 3',
    '-n license ensure --remote-user ada --size-allowance 3',
  ],
  ['license list --all-apps=true --quiet=true', 'license list --all-apps --quiet'],
  ['messages fetch --search --no_such_option', 'messages fetch --search=--no_such_option'],
])('`chatelaine %s` is `chatelaine %s`', async (line, meant) => {
  expect(await readLine(line)).toEqual(await readLine(meant));
});

test('a switch that is false is not set, whatever the environment says', async () => {
  const { stderr, exitCode } = await run(fakeService(), 'commands --verbose=false --json=false -o tsv --quiet=false', {
    env: { CHATELAINE_VERBOSE: 'true', CHATELAINE_JSON: '1' },
  });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  const request = await readCommandLine(['license', 'list', '--quiet=false', '--all-apps=false'], {
    ...host,
    system: { env: { CHATELAINE_QUIET: '1' } },
  } as never);
  expect(request).toMatchObject({ options: { quiet: false }, typed: [{ flag: 'no-quiet' }, { flag: 'no-all-apps' }] });
});

test.each([
  ['license list --license-code k', 'unknown option --license-code'],
  ['auth login licensing --is-pinned=true', 'unknown option --is-pinned'],
  ['license list --all-apps=perhaps', '--all-apps does not accept a value'],
  ['license ensure --remote-user --size-allowance 3', '--remote-user needs a value'],
  ['license view --all-apps --license-code', '--license-code needs a value'],
])('`chatelaine %s`: %s', async (line, message) => {
  expect(await run(fakeService(), `-o json ${line}`)).toMatchObject({ exitCode: 2, error: { message } });
});

test('help and the description of the commands do not show them', async () => {
  const help = await run(fakeService(), 'help');
  const tree = await run(fakeService(), 'commands -o json');
  const page = await run(fakeService(), 'messages fetch --help');
  for (const text of [help.stdout, tree.stdout, page.stdout])
    expect(text).not.toMatch(
      /--(message.ids|apply.markdown|stream.id|topic.name|saved.snippet.id|license.code|mac.address|is.pinned)/,
    );
});
