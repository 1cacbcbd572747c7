import type { License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { licenseCode, licenseExtras, licenseFilters } from '../../schema/license.ts';
import { command } from '../command.ts';
import type { Accounts, Services } from '../context.ts';
import { allAppsOption, licensesOf, ofEveryApp, refuseChosenApp, type OwnApp } from './apps.ts';
import { keyAlone, licenseShow } from './show.ts';

export default command({
  about: [
    'CODE shows one license; --remote-user lists all licenses of a user, one or several. With --all-apps each stored application is asked.',
  ],
  args: { license_code: { ...licenseCode, required: false } },
  options: { ...licenseFilters, ...allAppsOption },
  examples: ['chatelaine license view 0191A-86552-95939-DF69B', 'chatelaine license view --remote-user physio-7731 -q'],

  run({ license_code, all_apps, ...filter }, context) {
    const { remote_user: users, ...application } = filter;
    if ((license_code === undefined) === (users === undefined)) throw usage('give either CODE or --remote-user U');
    if (all_apps) refuseChosenApp(filter.app_code, context.options);
    if (license_code !== undefined)
      return withHint(all_apps ? viewInEveryApp(license_code, context) : context.licensing(filter).view(license_code));
    return ofEach(users ?? [], (user) =>
      licensesOf({ ...application, remote_user: [user], all_apps }, 'whole', context),
    );
  },

  result: 'one or rows',
  fields: licenseExtras,

  show: { ...licenseShow, ...keyAlone },
});

/** A name in place of a code is a usual mistake. @throws Failure what the look throws, with the way to a user's licenses */
async function withHint(license: Promise<License>): Promise<License> {
  try {
    return await license;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
    const hint = 'For the licenses of a user: chatelaine license view --remote-user NAME.';
    throw cause.as('not_found', cause.message, { hint });
  }
}

/** @throws Failure not_found after the licenses, naming the users that have none */
async function* ofEach(
  users: readonly string[],
  licensesOfUser: (user: string) => AsyncIterable<License>,
): AsyncGenerator<License> {
  const missing = new Set(users);
  for (const user of users) {
    for await (const license of licensesOfUser(user)) {
      missing.delete(user);
      yield license;
    }
  }
  const names = [...missing].map((user) => `'${user}'`).join(', ');
  if (missing.size > 0)
    throw new Failure('not_found', missing.size === 1 ? `the user ${names} has no license` : `no license: ${names}`);
}

/** The license in the first application that knows its code. */
async function viewInEveryApp(license_code: string, context: Services & Accounts): Promise<License> {
  const look = async function* ({ api }: OwnApp): AsyncGenerator<License> {
    try {
      yield await api.view(license_code);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
    }
  };
  for await (const license of ofEveryApp(context, look)) return license;
  throw new Failure('not_found', 'no license has this code in any stored application');
}
