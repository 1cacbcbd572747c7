import { listOfApplication } from '../../api/licensing/application.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Extent } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import type { licenseFilters } from '../../schema/license.ts';
import { signIn } from '../../schema/profile.ts';
import type { UsageRule } from '../../schema/usage-rules.ts';
import type { StoredApp } from '../../store/account/credentials.ts';
import type { Accounts, Services } from '../context.ts';
import { withOurs } from './show.ts';

export const allAppsOption = {
  all_apps: flagField(
    'Query every stored application once; exit code 8 if one fails. With several servers, base_url is the server of each row',
  ),
} as const satisfies Fields;

/** --all-apps uses every application, so no option may choose one. */
export const allAppsRule: UsageRule = { option: 'all_apps', excludes: ['app_code', 'profile'] };

/** Lists the licenses of the chosen application or of every stored one, and of the given users or of all. */
export async function* licensesOf(
  { all_apps, remote_user = [], ...filter }: Values<typeof licenseFilters> & { readonly all_apps: boolean | undefined },
  extent: Extent,
  context: Services & Accounts,
): AsyncGenerator<License> {
  const filters = remote_user.length === 0 ? [filter] : remote_user.map((user) => ({ ...filter, remote_user: user }));
  const list = async function* (api: LicensingApi, app_code: number | undefined) {
    for (const one of filters) yield* listOfApplication(api, one, app_code, extent);
  };
  if (!all_apps) yield* list(context.licensing(filter), (await context.licensingAccount(filter)).app_code);
  else
    yield* ofEveryApp(await storedServers(context), context, async function* ({ api, app_code, base_url }) {
      for await (const license of list(api, app_code)) yield withServer(license, base_url);
    });
}

/** The license with the address of its server, where there are several servers. */
export function withServer(license: License, base_url: string | undefined): License {
  return base_url === undefined ? license : { ...license, fields: withOurs(license.fields, { base_url }) };
}

export interface OwnApp {
  readonly api: LicensingApi;
  readonly app_code: number;
  /** Undefined where all stored applications are of one server. */
  readonly base_url: string | undefined;
}

type ServerApps = readonly [StoredApp, ...StoredApp[]];

/** The stored applications by server, each once however many profiles it has. @throws Failure config for none */
export async function storedServers({ accounts }: Accounts): Promise<readonly ServerApps[]> {
  const servers = new Map<string, ServerApps>();
  for (const app of await accounts.licensingApps()) {
    const origin = accounts.identityOf(app);
    const known = servers.get(origin);
    if (!known) servers.set(origin, [app]);
    else if (!known.some(({ app_code }) => app_code === app.app_code)) servers.set(origin, [...known, app]);
  }
  if (servers.size > 0) return [...servers.values()];
  throw new Failure('config', 'no licensing credential is stored', {
    hint: `Store one: ${signIn.licensing}`,
  });
}

/** Queries each application of those servers. @throws Failure incomplete after the rows, naming the failed ones */
export async function* ofEveryApp<T>(
  servers: readonly ServerApps[],
  context: Services,
  ask: (app: OwnApp) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const apps = servers.flat();
  const failed: string[] = [];
  for (const { app_code, profile, ...app } of apps) {
    const base_url = servers.length > 1 ? app.base_url : undefined;
    try {
      yield* ask({ api: context.servers.licensingAs(await app.credential()), app_code, base_url });
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
      failed.push(`${profile}: ${cause.message}`);
    }
  }
  if (failed.length > 0)
    throw new Failure('incomplete', [`${failed.length} of ${apps.length} applications failed`, ...failed].join('\n'));
}
