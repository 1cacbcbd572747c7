import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { phoneCode, licenseCode, licenseExtras, licenseFilters } from '../../schema/license.ts';
import { command } from '../command.ts';
import type { Accounts, Services } from '../context.ts';
import { allAppsOption, allAppsRule, licensesOf, ofEveryApp, storedServers, withServer, type OwnApp } from './apps.ts';
import { keyAlone, licenseShow, similarUsersHint, withCodeAdvice } from './show.ts';

export default command({
  about: [
    'One CODE shows one license; several CODEs, or --remote-user, show a list. With --all-apps every stored application is queried. If the server does not know a ' +
      'code, the command looks for it in the list as people read codes by phone: in any case, with blanks, without dashes, O for 0, I and L for 1.',
  ],
  args: { license_code: { ...licenseCode, many: true } },
  options: { ...licenseFilters, ...allAppsOption },
  examples: ['chatelaine license view 0191A-86552-95939-DF69B', 'chatelaine license view --remote-user physio-7731 -q'],

  rules: [{ oneOf: ['license_code', 'remote_user'], say: 'give either CODE or --remote-user U' }, allAppsRule],

  run({ license_code, all_apps, ...filter }, context) {
    const { remote_user: users, ...application } = filter;
    const [code, ...others] = license_code ?? [];
    const viewOne = (one: string) =>
      byPhone(one, all_apps ? viewInEveryApp(one, context) : context.licensing(filter).view(one), () =>
        licensesOf({ ...filter, remote_user: [], all_apps }, 'whole', context),
      );
    if (code !== undefined && others.length === 0) return viewOne(code);
    if (code !== undefined)
      return each([code, ...others], (one) => `the license that ends with ${one.slice(-4)}`, viewOne);
    return ofEach(users ?? [], (user) =>
      licensesOf({ ...application, remote_user: [user], all_apps }, 'whole', context),
    );
  },

  result: 'one or rows',
  fields: [...licenseExtras, 'base_url'],

  show: { ...licenseShow, ...keyAlone },
});

/** The license of a code, else the only one whose key sounds like it. @throws Failure of the lookup, with advice */
async function byPhone(code: string, lookup: Promise<License>, list: () => AsyncIterable<License>): Promise<License> {
  const found = await lookup.catch((cause: unknown) => {
    if (cause instanceof Failure && cause.kind === 'not_found') return cause;
    throw cause;
  });
  if (!(found instanceof Failure)) return found;
  const alike: License[] = [];
  try {
    for await (const license of list()) if (phoneCode(license.key ?? '') === phoneCode(code)) alike.push(license);
  } catch (cause) {
    // Without the list the result is still that nobody has the code.
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
  }
  const [license, ...others] = alike;
  if (license && others.length === 0) return license;
  throw withCodeAdvice(found);
}

/** @throws Failure not_found after the licenses, naming the users that have none */
async function* ofEach(users: readonly string[], licensesOfUser: (user: string) => AsyncIterable<License>) {
  const missing = new Set(users);
  for (const user of users) {
    for await (const license of licensesOfUser(user)) {
      missing.delete(user);
      yield license;
    }
  }
  const [user] = missing;
  const names = [...missing].map((name) => `'${name}'`).join(', ');
  const message = missing.size === 1 ? `the user ${names} has no license` : `no license: ${names}`;
  if (user !== undefined) throw new Failure('not_found', message, { hint: similarUsersHint(user) });
}

async function viewInEveryApp(license_code: string, context: Services & Accounts): Promise<License> {
  let unknown: Failure | undefined;
  const look = async function* ({ api, base_url }: OwnApp): AsyncGenerator<License> {
    try {
      yield withServer(await api.view(license_code), base_url);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
      unknown = cause;
    }
  };
  for await (const license of ofEveryApp(await storedServers(context), context, look)) return license;
  throw new Failure('not_found', 'no license has this code in any stored application', unknown?.details);
}
