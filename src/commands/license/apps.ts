import { listOfApplication } from '../../api/licensing/application.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Extent } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import type { licenseFilters } from '../../schema/license.ts';
import type { UsageRule } from '../../schema/usage-rules.ts';
import type { Accounts, Services } from '../context.ts';

export const allAppsOption = {
  all_apps: flagField('Ask every stored application; if one fails, it is named, and the exit code is 8'),
} as const satisfies Fields;

/** All applications leave none to choose. */
export const allAppsRule: UsageRule = { option: 'all_apps', excludes: ['app_code', 'profile'] };

/** The licenses of the application that is chosen, or of every stored one; of those users, or of all. */
export async function* licensesOf(
  { all_apps, remote_user = [], ...filter }: Values<typeof licenseFilters> & { readonly all_apps: boolean | undefined },
  extent: Extent,
  context: Services & Accounts,
): AsyncGenerator<License> {
  const filters = remote_user.length === 0 ? [filter] : remote_user.map((user) => ({ ...filter, remote_user: user }));
  const list = async function* ({ api, app_code }: Pick<OwnApp, 'api'> & { app_code: number | undefined }) {
    for (const one of filters) yield* listOfApplication(api, one, app_code, extent);
  };
  if (all_apps) yield* ofEveryApp(context, list);
  else yield* list({ api: context.licensing(filter), app_code: (await context.licensingAccount(filter)).app_code });
}

export interface OwnApp {
  readonly api: LicensingApi;
  readonly app_code: number;
}

/** Asks each stored application. @throws Failure config for none; incomplete after the rows, naming the failed ones */
export async function* ofEveryApp<T>(context: Services & Accounts, ask: (app: OwnApp) => AsyncIterable<T>) {
  const apps = await context.accounts.licensingApps();
  if (apps.length === 0)
    throw new Failure('config', 'no licensing credential is stored', {
      hint: 'Store one: chatelaine auth login licensing.',
    });
  const failed: string[] = [];
  for (const app of apps) {
    try {
      yield* ask({ api: context.servers.licensingAs(await app.credential()), app_code: app.app_code });
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
      failed.push(`${app.profile}: ${cause.message}`);
    }
  }
  if (failed.length > 0)
    throw new Failure('incomplete', [`${failed.length} of ${apps.length} applications failed`, ...failed].join('\n'));
}
