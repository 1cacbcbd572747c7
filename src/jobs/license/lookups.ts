/**
 * Finds the licenses of users by the server's filter, or in the complete list (docs/exactly-once.md, The lookup). One
 * object for a run and all of its applications: what it learns of a server is gone when the run ends.
 */
import { isMasked, keyHint, mayBeMasked, textOf, withoutKey, type License } from '../../api/licensing/license.ts';
import { isStoredFor, likenessOfApp } from '../../api/licensing/likeness.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { ApplicationLookups, type LookupResult, type LookupWorld } from './application-lookups.ts';
import { groupBy } from './license-user.ts';
import { inconclusive } from './listed-users.ts';
import { anyPlace } from './places.ts';

/** The response to a GET of a license key, compared with the user who is expected to have it. */
export type ViewedKey =
  | { readonly is: 'as asked' | 'another'; readonly license: License }
  /** The server keeps another spelling of the name. */
  | { readonly is: 'stored otherwise'; readonly license: License; readonly name: string }
  /** The GET was refused, or had no response. */
  | { readonly is: 'not there'; readonly failure: Failure };

export class Lookups {
  readonly #world: LookupWorld;
  readonly #applications = new Map<number, ApplicationLookups>();
  readonly #listedKeys = new Map<number, Promise<Failure | undefined>>();
  readonly #usersOfKeys = new Map<string, string>();

  constructor(world: LookupWorld) {
    this.#world = world;
  }

  /** The lookups of one application, which are kept for the run. */
  of(app_code: number): ApplicationLookups {
    const application = this.#applications.get(app_code) ?? new ApplicationLookups(app_code, this.#world);
    this.#applications.set(app_code, application);
    return application;
  }

  /** Whether the complete list is known to be the lookup of at least one application. */
  get isByList(): boolean {
    return [...this.#applications.values()].some((application) => application.isByList);
  }

  /**
   * Reads one list of each application, as a hint: it finds licenses, but does not prove that there are none.
   * @returns what the list shows of a user; undefined for one who has to be looked up @throws Failure as `lookUp`
   */
  async list(users: readonly LicenseUser[]): Promise<(user: LicenseUser) => LookupResult | undefined> {
    for (const [app_code, own] of groupBy(users, (user) => user.app_code))
      await this.of(app_code).readHint(new Set(own.map((user) => user.remote_user)));
    return ({ app_code, remote_user }) => this.of(app_code).hintOf(remote_user);
  }

  /** The user's licenses, to change them. @throws Failure incomplete where the lookup proves nothing; as `lookUp` */
  async licensesOf(user: LicenseUser): Promise<readonly License[]> {
    const found = await this.of(user.app_code).lookUp(user.remote_user, 'given');
    if (found.shows === 'incomplete') throw found.failure;
    return found.shows === 'licenses' ? found.licenses : [];
  }

  /** Reads the license of a key, and compares it with the user. Only interruptions are thrown. */
  async viewKey({ remote_user, app_code }: LicenseUser, key: string, places = anyPlace): Promise<ViewedKey> {
    try {
      const license = await places.read(() => this.#world.licensing(app_code).view(key));
      const name = textOf(license, 'remote_user');
      if (likenessOfApp(license, app_code) === 'other') return { is: 'another', license };
      if (name === undefined || name === remote_user) return { is: 'as asked', license };
      return isStoredFor(name, remote_user) ? { is: 'stored otherwise', license, name } : { is: 'another', license };
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.isInterruption) throw failure;
      return { is: 'not there', failure };
    }
  }

  /** Why a listed license may belong to another application; undefined where it cannot. */
  async whyOther({ app_code }: LicenseUser, { fields }: License): Promise<Failure | undefined> {
    const isNamed = (fields['app_code'] ?? undefined) !== undefined;
    if (isNamed || !(await this.#world.isOneOfSeveral(app_code))) return undefined;
    return noKey('the list names no application, and several of this server are stored');
  }

  /**
   * Why the listed value of a license cannot be printed as its key; undefined where it can. One GET for each
   * application shows whether the server lists real keys, and a value that is listed for two users is not a key.
   */
  async whyNoKey(user: LicenseUser, license: License, places = anyPlace): Promise<Failure | undefined> {
    const { remote_user, app_code } = user;
    const { key } = license;
    if (key === undefined) return inconclusive(`the user has a license: ${withoutKey(license)}`, keyHint);
    if (isMasked(key)) return noKey('the server shows only a part of its key');
    const other = await this.whyOther(user, license);
    if (other) return other;
    const view = async () => whyOtherKey(user, license, await this.viewKey(user, key, places));
    // A key that may be masked says nothing about other keys, so it is read by itself.
    if (mayBeMasked(key)) return view();
    const first = this.#usersOfKeys.get(`${app_code} ${key}`) ?? remote_user;
    this.#usersOfKeys.set(`${app_code} ${key}`, first);
    if (first !== remote_user) return noKey(`the server lists the key of '${first}'`);
    const viewing = this.#listedKeys.get(app_code) ?? view();
    this.#listedKeys.set(app_code, viewing);
    const failure = await viewing;
    if (failure?.kind === 'unavailable') this.#listedKeys.delete(app_code);
    return failure;
  }
}

/** Why a listed value is not the license's key, by the response to a GET of it. @throws Failure auth */
function whyOtherKey({ remote_user }: LicenseUser, license: License, shown: ViewedKey): Failure | undefined {
  if (shown.is !== 'not there') {
    const [listed, own] = [license, shown.license].map((one) => textOf(one, 'remote_user') ?? remote_user);
    if (listed === own) return undefined;
    return noKey('the value that the server lists is the key of another license');
  }
  const { failure } = shown;
  if (failure.details.http?.status === 401) throw failure;
  if (failure.kind === 'unavailable') return failure;
  return noKey(`the value that the server lists is not its key (${failure.message})`);
}

/** Throws the failure of a request for a listed value; a server that does not know it lists no keys. */
export function throwOfListed(cause: unknown): never {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
  throw noKey(`the value that the server lists is not its key (${cause.message})`);
}

function noKey(why: string): Failure {
  return inconclusive(
    `the user has a license, and its key is not known: ${why}`,
    'Ask the operator of the server for the key.',
  );
}
