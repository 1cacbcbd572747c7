/**
 * Finds the licenses of users by the server's filter, or in the complete list (docs/exactly-once.md, The lookup). One
 * object for a run and all of its applications: what it learns of a server is gone when the run ends.
 */
import { isMasked, keyHint, mayBeMasked, textOf, withoutKey, type License } from '../../api/licensing/license.ts';
import { isStoredFor, likenessOfApp } from '../../api/licensing/likeness.ts';
import { Failure } from '../../core/failure.ts';
import { ApplicationLookups, type LookupResult, type LookupWorld } from './application-lookups.ts';
import { groupBy, type LicenseUser } from './license-user.ts';
import { inconclusive } from './listed-users.ts';
import { anyPlace } from './places.ts';

/** The license that a GET of an answered key returns. */
export type AnsweredKey =
  | { readonly is: 'as asked' | 'another'; readonly license: License }
  /** The server keeps another spelling of the name. */
  | { readonly is: 'stored otherwise'; readonly license: License; readonly name: string }
  /** It is refused, or not answered. */
  | { readonly is: 'not there'; readonly failure: Failure };

export class Lookups {
  readonly #world: LookupWorld;
  readonly #applications = new Map<number, ApplicationLookups>();
  readonly #listedKeys = new Map<number, Promise<Failure | undefined>>();
  readonly #usersOfKeys = new Map<string, string>();

  constructor(world: LookupWorld) {
    this.#world = world;
  }

  /** What finds the licenses of the users of that application. */
  of(app_code: number): ApplicationLookups {
    const application = this.#applications.get(app_code) ?? new ApplicationLookups(app_code, this.#world);
    this.#applications.set(app_code, application);
    return application;
  }

  /** The list of all licenses is the lookup of any application, as far as is known. */
  get isByList(): boolean {
    return [...this.#applications.values()].some((application) => application.isByList);
  }

  /**
   * One list of each application finds what is there, and decides nothing else. @returns undefined for a user who has
   * to be looked up @throws Failure as `lookUp`
   */
  async list(users: readonly LicenseUser[]): Promise<(user: LicenseUser) => LookupResult | undefined> {
    for (const [app_code, own] of groupBy(users, (user) => user.app_code))
      await this.of(app_code).readHint(new Set(own.map((user) => user.remote_user)));
    return ({ app_code, remote_user }) => this.of(app_code).hintOf(remote_user);
  }

  /** The licenses of that name, to change them. @throws Failure incomplete where they may be others; as `lookUp` */
  async licensesOf(user: LicenseUser): Promise<readonly License[]> {
    const found = await this.of(user.app_code).lookUp(user.remote_user, 'given');
    if (found.shows === 'incomplete') throw found.failure;
    return found.shows === 'licenses' ? found.licenses : [];
  }

  /** Reads the license that a POST was answered, where no lookup shows it. Throws interruptions alone. */
  async viewAnswered({ remote_user, app_code }: LicenseUser, key: string, places = anyPlace): Promise<AnsweredKey> {
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

  /** Why a listed license may be one of another application; undefined where it is not. */
  async whyOther({ app_code }: LicenseUser, { fields }: License): Promise<Failure | undefined> {
    const isNamed = (fields['app_code'] ?? undefined) !== undefined;
    if (isNamed || !(await this.#world.isOneOfSeveral(app_code))) return undefined;
    return noKey('the list names no application, and several of this server are stored');
  }

  /**
   * Why the listed value of a license cannot be printed as its key; undefined where it is one, as one GET shows, and no
   * other user of the run was shown with it.
   */
  async whyNoKey(user: LicenseUser, license: License, places = anyPlace): Promise<Failure | undefined> {
    const { remote_user, app_code } = user;
    const { key } = license;
    if (key === undefined) return inconclusive(`the user has a license: ${withoutKey(license)}`, keyHint);
    if (isMasked(key)) return noKey('the server shows only a part of its key');
    const other = await this.whyOther(user, license);
    if (other) return other;
    const view = async () => whyOtherKey(user, license, await this.viewAnswered(user, key, places));
    // Such a key says nothing of others.
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

/** Why a listed value is no key, by what a GET of it shows. @throws Failure auth */
function whyOtherKey({ remote_user }: LicenseUser, license: License, shown: AnsweredKey): Failure | undefined {
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

function noKey(why: string): Failure {
  return inconclusive(
    `the user has a license, and its key is not known: ${why}`,
    'Ask the operator of the server for the key.',
  );
}
