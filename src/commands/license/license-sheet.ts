import { sizeOf, type License } from '../../api/licensing/license.ts';
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { SeenUser } from '../../jobs/license/case.ts';
import { severalWarning } from '../../jobs/license/case-words.ts';
import { lookUp, userKey, type LicenseUser } from '../../jobs/license/license-user.ts';
import { listRoster } from '../../jobs/license/plan.ts';
import { licenseColumns, licenseExtras } from '../../schema/license.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import type { Accounts, Disk, Services, Terminal, Time } from '../context.ts';
import { apiOfEachApp, defaultConcurrency } from '../roster.ts';
import { readUsers, type UserValues } from './license-roster.ts';
import { withOurs } from './show.ts';

/**
 * The license of each row's user, in the order of the sheet; nothing is changed.
 * @throws Failure not_found after the rows, naming users who have none; incomplete where that is not known
 */
export async function* licensesOfSheet(
  file: string,
  values: UserValues,
  context: Services & Accounts & Disk & Terminal & Time,
): AsyncGenerator<License> {
  // A user may be in several rows.
  const rules = { noun: oncePerUser.noun, nameOf: oncePerUser.nameOf, alone: 'remote_user' };
  const { rows, others } = await readUsers(file, values, rules, context, [...licenseColumns, ...licenseExtras]);
  const licensing = apiOfEachApp(context, values.app_code);
  const users = [...new Map(rows.map((row) => [userKey(row), row])).values()];
  const parts = { licensing, elapsed: context.clock.elapsed, concurrency: defaultConcurrency };
  const { seenOf } = await listRoster(users, parts);
  const found = new Map<string, SeenUser['result']>();
  for (const user of users) {
    const { by, result } = seenOf(user);
    found.set(userKey(user), by === 'filter' ? result : await lookUp(licensing(user.app_code), user));
  }
  const licensesOf = (user: LicenseUser): readonly License[] => {
    const result = found.get(userKey(user));
    return result?.shows === 'licenses' ? result.licenses : [];
  };
  for (const user of users) if (licensesOf(user).length > 1) context.warn(severalWarning(user));
  const shape = users.flatMap(licensesOf)[0]?.fields ?? {};
  const blank = Object.fromEntries(Object.keys(shape).map((name) => [name, null]));
  for (const [index, { remote_user, app_code: code, size_allowance }] of rows.entries()) {
    const licenses = licensesOf({ remote_user, app_code: code });
    const license = licenses.find((one) => sizeOf(one) === size_allowance) ?? licenses[0];
    const fields = license?.fields ?? { ...blank, remote_user, app_code: code };
    yield { key: license ? license.key : '', fields: withOurs(fields, { ...others[index] }) };
  }
  const unknown = [...found.values()].find(({ shows }) => shows === 'incomplete');
  if (unknown?.shows === 'incomplete') throw unknown.failure;
  const without = users.filter((user) => licensesOf(user).length === 0).map(({ remote_user }) => remote_user);
  if (without.length === 0) return;
  const named = without.slice(0, maxNamed).join(', ') + (without.length > maxNamed ? ', …' : '');
  const have = without.length === 1 ? 'has' : 'have';
  throw new Failure(
    'not_found',
    `${without.length} of ${quantity(users.length, 'user')} ${have} no license: ${named}`,
    {
      hint: 'What is missing is created with the same file and its options by license apply.',
    },
  );
}

const maxNamed = 20;
