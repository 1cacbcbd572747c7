import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWhole } from '../../helpers/extent.ts';
import { emptyHome, openSandbox, type Ran } from '../../helpers/run.ts';

/** A year of an operator: what a roster, an audit by night and an undo make of joiners, leavers, sizes and names. */

const rows = isWhole ? 300 : 12;
/** How many there are, and those of a second license, of an undo and of an edit by hand. */
const [months, ofTwin, ofUndo, ofEdit] = isWhole ? [12, 4, 7, 9] : [6, 2, 3, 4];

/** Users with their sizes. */
type Roster = ReadonlyMap<string, number>;

/** Of each month two users leave, two others come, two sizes change; one user is renamed before, by hand. */
function rosterAfter(
  last: Roster,
  month: number,
): { readonly roster: Roster; readonly renamed: readonly [string, string] } {
  const users = [...last];
  const at = (place: number) => users[(month * 7 + place) % users.length]?.[0] ?? '';
  const renamed = [at(0), `married-${month}`] as const;
  const roster = new Map(users.map(([user, size]) => [user === renamed[0] ? renamed[1] : user, size]));
  for (const place of [1, 2]) roster.delete(at(place));
  for (const place of [3, 4]) roster.set(at(place), 1 + ((roster.get(at(place)) ?? 1) % 18));
  for (const place of [0, 1]) roster.set(`new-${month}-${place}`, 3);
  return { roster, renamed };
}

test(`${months} rosters of ${rows} rows: the audits are quiet but for two planted faults, and the list equals the last roster`, async () => {
  const { run: ask, sandbox } = await openSandbox({
    seed: (state) => {
      for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
    },
  });
  const home = emptyHome();
  const [roster, accepted] = [join(home, 'roster.csv'), join(home, 'accepted.txt')];
  let month = 0;
  const run = (line: string): Promise<Ran> => ask(line, { home, now: Date.UTC(2026, month, 1, 12) });
  const write = (users: Roster): void =>
    writeFileSync(
      roster,
      `remote_user,size_allowance\n${[...users].map(([user, size]) => `${user},${size}\n`).join('')}`,
    );
  const apply = () => run(`license apply ${roster} --retire-missing --max-retire 3 -o json`);
  const audit = async (words = '') => (await run(`license audit --roster ${roster} -q ${words}`)).exitCode;
  const held = () =>
    sandbox.state
      .licenses()
      .filter(({ remote_user }) => !remote_user.startsWith('left-'))
      .map(({ remote_user, size_allowance }) => `${remote_user} ${size_allowance}`)
      .sort();
  const wanted = (users: Roster) => [...users].map(([user, size]) => `${user} ${size}`).sort();

  let users: Roster = new Map(Array.from({ length: rows }, (_, index) => [`user-${index}`, 1 + (index % 18)]));
  write(users);
  expect((await apply()).exitCode).toBe(0);
  const audits: number[] = [await audit()];
  for (month = 1; month < months; month += 1) {
    const before = held();
    const { roster: next, renamed } = rosterAfter(users, month);
    expect((await run(`license rename ${renamed.join(' ')} -y`)).exitCode).toBe(0);
    const named = held();
    write(next);
    const applied = await apply();
    expect(applied.exitCode).toBe(0);
    expect(held()).toEqual(wanted(next));
    if (month === ofUndo) {
      const name = /license undo (\w{4})/.exec(applied.stderr)?.[1] ?? '';
      const undone = await run(`license undo ${name} -y -o json`);
      expect({ exitCode: undone.exitCode, changed: before.length }).toEqual({ exitCode: 0, changed: rows });
      expect(held().filter((text) => !text.startsWith(`new-${ofUndo}-`))).toEqual(named);
      expect((await apply()).exitCode).toBe(0);
      expect(held()).toEqual(wanted(next));
    }
    users = next;
    if (month === ofTwin) {
      // A second license, made by hand: found, looked at, and accepted with its reason.
      await run(`license create --remote-user new-${ofTwin}-0 --size-allowance 3`);
      audits.push(await audit());
      expect((await run(`license audit --roster ${roster} --write-accepted ${accepted}`)).exitCode).toBe(0);
      writeFileSync(accepted, readFileSync(accepted, 'utf8').replace(/\n/g, ' # two devices\n'));
      audits.push(await audit(`--accept ${accepted}`));
      const key =
        sandbox.state.licenses().findLast(({ remote_user }) => remote_user === `new-${ofTwin}-0`)?.license_code ?? '';
      expect((await run(`license retire ${key} -y`)).exitCode).toBe(0);
    }
    if (month === ofEdit) {
      const victim = sandbox.state.licenses().find(({ remote_user }) => remote_user === `new-${ofEdit}-0`);
      await run(`license edit ${victim?.license_code ?? ''} --size-allowance 9`);
      audits.push(await audit());
      expect((await apply()).exitCode).toBe(0);
    }
    audits.push(await audit());
  }
  const quiet = (count: number) => Array<number>(count).fill(0);
  expect(audits).toEqual([...quiet(ofTwin), 10, 0, ...quiet(ofEdit - ofTwin), 10, ...quiet(months - ofEdit)]);
  expect(held()).toEqual(wanted(users));
  const { stderr } = await run(`license audit --roster ${roster}`);
  expect(stderr).toContain(`no findings in ${rows + 2 * (months - 1) + 1} licenses (${2 * (months - 1) + 1} retired)`);
});
