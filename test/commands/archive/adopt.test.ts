import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeManifest, readHead } from '../../../src/store/archive/archive-head.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const newFolder = (): string => join(emptyHome(), 'archive');

/** The sandbox with its first two people: what each archives, and what the archives of a folder say of themselves. */
async function open() {
  const { run, sandbox } = await openSandbox();
  const [first, second] = sandbox.chat.accounts;
  if (!first || !second) throw new Error('the sandbox has two people');
  const as = ({ email, api_key }: { readonly email: string; readonly api_key: string }) => ({
    env: { CHATELAINE_CHAT_EMAIL: email, CHATELAINE_CHAT_API_KEY: api_key },
  });
  return { run, sandbox, first, second, as };
}

function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

test('another account is refused in all folders of --all-channels at once, before anything is written', async () => {
  const { run, first, second, as } = await open();
  const folder = newFolder();
  expect((await run(`archive pull ${folder} --all-channels -q`, as(second))).exitCode).toBe(0);
  const before = contentOf(folder);

  const refused = await run(`archive pull ${folder} --all-channels -o json`, as(first));

  expect(refused.error).toMatchObject({
    exit: 3,
    message: expect.stringContaining(`the archive belongs to ${second.email} at `) as string,
    hint:
      'Choose the profile of that account with --profile, or pull into another folder. To continue it as ' +
      `${first.email}: chatelaine archive pull ${folder} --all-channels --output json --adopt ${second.email}`,
  });
  expect(contentOf(folder)).toEqual(before);
  expect((await run(`archive pull ${folder} --all-channels -q`, as(second))).exitCode).toBe(0);
});

test('the archive of another server is never adopted', async () => {
  const { run, first, as } = await open();
  const folder = newFolder();
  await run(`archive pull ${folder} --channel general -q`, as(first));
  const head = await readHead(folder);
  if (!head) throw new Error('there is no head');
  await writeManifest(folder, { ...head, site: 'https://else.test' });
  const { error } = await run(`archive pull ${folder} --adopt=${first.email} -o json`, as(first));
  expect(error).toMatchObject({
    exit: 3,
    message: expect.stringContaining('https://else.test') as string,
    hint: 'Choose the profile of that account with --profile, or pull into another folder.',
  });
});

test('a new address of the same account is only recorded', async () => {
  const { run, sandbox, first, as } = await open();
  const folder = newFolder();
  await run(`archive pull ${folder} --channel general -q`, as(first));
  const { account_id } = (await readHead(folder)) ?? {};
  const email = 'another.name@example.com';
  sandbox.state.change(({ users }) => {
    const user = users.rows().find((one) => one.email === first.email);
    if (user) users.put(user.user_id, { ...user, email });
  });

  expect((await run(`archive pull ${folder} -q`, as({ ...first, email }))).exitCode).toBe(0);

  expect(account_id).toEqual(expect.any(Number));
  expect(await readHead(folder)).toMatchObject({ account: email, account_id });
});

test('without an id an archive counts by its address, and is given the id', async () => {
  const { run, first, second, as } = await open();
  const folder = newFolder();
  await run(`archive pull ${folder} --channel general -q`, as(first));
  const head = await readHead(folder);
  if (!head) throw new Error('there is no head');
  const { account_id, ...older } = head;
  await writeManifest(folder, older);

  expect((await run(`archive pull ${folder} -q`, as(second))).exitCode).toBe(3);
  expect((await run(`archive pull ${folder} -q`, as(first))).exitCode).toBe(0);
  expect(await readHead(folder)).toMatchObject({ account_id });
});

test('another account that has the address of before is refused', async () => {
  const { run, first, as } = await open();
  const folder = newFolder();
  await run(`archive pull ${folder} --channel general -q`, as(first));
  const head = await readHead(folder);
  if (!head) throw new Error('there is no head');
  await writeManifest(folder, { ...head, account_id: (head.account_id ?? 0) + 1 });

  expect((await run(`archive pull ${folder} -q`, as(first))).exitCode).toBe(3);
});

test('another address than that of the old account is refused', async () => {
  const { run, first, second, as } = await open();
  const folder = newFolder();
  await run(`archive pull ${folder} --channel general -q`, as(first));
  const before = contentOf(folder);
  const { error } = await run(`archive pull ${folder} --adopt somebody@example.com -o json`, as(second));
  expect(error).toMatchObject({ exit: 2, message: `--adopt: the archive belongs to ${first.email}` });
  expect(contentOf(folder)).toEqual(before);
});

test('after --adopt the archive is the new account’s, and what the old one alone saw is gone by its account', async () => {
  const { run, sandbox, first, second, as } = await open();
  const folder = newFolder();
  const { user_id = 0 } = sandbox.state.users().find(({ email }) => email === first.email) ?? {};
  sandbox.state.change(({ channels }) => {
    const leads = channels.get(5);
    if (leads) channels.put(5, { ...leads, subscribers: [{ user_id, since: 0 }] });
  });
  await run(`archive pull ${folder} --channel leads -q`, as(first));
  const held = (await run(`archive export ${folder} -o ndjson`)).stdout.split('\n').length - 1;
  expect(held).toBeGreaterThan(0);

  const adopted = await run(`archive pull ${folder} --recheck --adopt=${first.email} -o json`, as(second));

  expect(adopted.exitCode).toBe(0);
  expect(await readHead(folder)).toMatchObject({ account: second.email, adopted: 1 });
  const path = join(folder, 'changes.ndjson');
  const changes = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  const whys = changes.map((line) => (JSON.parse(line) as { why?: string }).why).filter((why) => why !== undefined);
  expect(whys.length).toBeGreaterThan(0);
  expect(new Set(whys)).toEqual(new Set(['account']));
  expect(adopted.stderr).toContain('not visible to this account; the previous one saw');
  expect((await run(`archive pull ${folder} -q`, as(second))).exitCode).toBe(0);
  expect((await run(`archive pull ${folder} -q`, as(first))).exitCode).toBe(3);
});
