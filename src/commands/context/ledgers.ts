import type { Milliseconds } from '../../core/duration.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Claims } from '../../store/claims.ts';

/** Who creates licenses for which users: on this machine, or in a ledger that several machines share. */
export interface Ledgers {
  /**
   * The claims on the users of one application: in the ledger that is configured for that credential, else in a file of this machine.
   * @param settle how long a POST is remembered at least
   * @throws Failure unavailable or auth where a configured ledger cannot be reached; what else is wrong with it shows at the first claim
   */
  claims(account: LicensingCredential, app_code: number, settle: Milliseconds): Promise<Claims>;
  /** The ledger of this run. @throws Failure config where none is configured */
  ledger(): Promise<Ledger>;
  /** The same; undefined where none is configured. */
  anyLedger(): Promise<Ledger | undefined>;
  /** Every configured ledger. */
  ledgers(): Promise<readonly ConfiguredLedger[]>;
}

export interface ConfiguredLedger {
  /** CHATELAINE_LEDGER, or the name of a profile. */
  readonly source: string;
  readonly ledger: Ledger;
}
