import { expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { emptyHome, openSandbox, runAlone } from '../helpers/run.ts';

const writes: readonly (readonly [line: string, stdin?: string])[] = [
  ['license create --remote-user zed --size-allowance 4'],
  ['license edit ABCDE-12345 --size-allowance 4'],
  ['license edit ABCDE-12345 --size-allowance 4 --remote-user zed --app-code 4711 --replace'],
  ['license ensure --remote-user zed --size-allowance 4'],
  ['license ensure --remote-user physio-7731 --size-allowance 9'],
  ['license apply - --input-format csv', 'remote_user,size_allowance\nzed,4\n'],
  ['settings set full_name=Zed'],
  ['settings set color_scheme=dark'],
  ['settings set email=zed@harbour.example'],
  ['settings set --from -', 'old_password=sandbox-password-of-mara\nnew_password=correct-horse-42\n'],
  ['topic delete general lunch --confirm lunch --no-archive'],
  ['view pin narrow/is/starred'],
  ['view hide inbox'],
  ['view rename narrow/is/alerted Zed'],
  ['snippet rm 1'],
];

test.each(sampleOf(6, writes))('a read-only profile refuses: %s', async (line, stdin) => {
  const methods: string[] = [];
  const { sandbox } = await openSandbox({ log: ({ method }) => void methods.push(method) });
  const home = emptyHome();
  await signIn(home, sandbox.chat.site);

  const ran = await runAlone(`${line} -o json`, { home, ...(stdin === undefined ? {} : { stdin }) });

  const hint = expect.stringContaining('sign in again with --no-read-only') as string;
  expect(ran.error).toMatchObject({ code: 'config', exit: 3, retryable: false, hint });
  expect(ran.error?.message).toMatch(/ is read-only: nothing was sent$/);
  // A chat account may have to be asked what the server knows.
  expect(line?.startsWith('license') ? methods : methods.filter((method) => method !== 'GET')).toEqual([]);
});

test.each(['license list', 'license audit', 'messages fetch', 'first-activation D422CD000301', 'auth status'])(
  'a read-only profile reads: %s',
  async (line) => {
    const { sandbox } = await openSandbox();
    const home = emptyHome();
    await signIn(home, sandbox.chat.site);
    expect((await runAlone(line, { home })).exitCode).toBe(0);
  },
);

async function signIn(home: string, url: string): Promise<void> {
  const licensing = `auth login licensing --base-url ${url} --app-code 4711 --api-key-stdin --read-only --no-check`;
  const chat = `auth login chat --site ${url} --email mara@harbour.example --api-key-stdin --read-only --no-check`;
  const first = await runAlone(licensing, { home, stdin: 'sandbox-key-of-app-4711\n' });
  const second = await runAlone(chat, { home, stdin: `${'SandboxKeyOfMara'.padEnd(32, '0')}\n` });
  expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
}
