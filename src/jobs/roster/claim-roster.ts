import type { Milliseconds } from '../../core/duration.ts';
import { fingerprint, fingerprintsOf, inOrder, type Fingerprints } from '../../core/fingerprints.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims } from '../../store/lock/claims.ts';
import { freeOrTell } from '../license/ensure-license.ts';
import { usersIn, type Roster } from './roster.ts';

/** The users of a roster, kept from other processes until their outcome is known. */
export interface RosterClaims {
  /** Whether another job died while it was at work on one of the rows. */
  readonly abandoned: boolean;
  /** Gives a row back, now or with others a little later. */
  free(row: LicenseFields): Promise<void>;
  /** Gives back all rows but these. */
  freeAllBut(open: readonly Pick<LicenseFields, 'remote_user' | 'app_code'>[]): Promise<void>;
}

export interface Claiming {
  /** The claims on the users of each application. */
  readonly claims: ReadonlyMap<number, Claims>;
  /** The job whose open steps are on record here; what any other left open is not known. */
  readonly known: string | undefined;
  readonly now: () => Milliseconds;
  readonly warn: (text: string) => void;
}

/** Claims are given back in portions, since each time their file is written anew. */
const freeEvery: Milliseconds = 2000;

/**
 * Claims all users of a roster, waiting while another process of this machine is at work on one of them.
 * @throws Failure unavailable, config
 */
export async function claimRoster({ users }: Roster, claiming: Claiming): Promise<RosterClaims> {
  const { claims, known, now } = claiming;
  let abandoned = false;
  for (const [app_code, own] of claims) {
    const jobs = await own.take(users.get(app_code) ?? none);
    abandoned ||= [...jobs].some((job) => job !== known);
  }
  const give = async (choose: (app_code: number) => Fingerprints): Promise<void> => {
    for (const [app_code, own] of claims) await freeOrTell(own, choose(app_code), claiming);
  };
  let last = now();
  const done = new Map<number, number[]>([...claims.keys()].map((app_code) => [app_code, []]));
  return {
    abandoned,
    async free({ app_code, remote_user }) {
      done.get(app_code)?.push(fingerprint(remote_user));
      if (now() - last <= freeEvery) return;
      last = now();
      await give((code) => inOrder(done.get(code)?.splice(0) ?? []));
    },
    freeAllBut: (open) =>
      give((app_code) => without(users.get(app_code) ?? none, fingerprintsOf(usersIn(open, app_code)))),
  };
}

const none = inOrder([]);

function without({ values }: Fingerprints, others: Fingerprints): Fingerprints {
  return inOrder(values.filter((value) => !others.has(value)));
}
