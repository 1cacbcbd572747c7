import type { Kind } from '../../schema/profile.ts';
import type { ChatCredential, LicensingCredential, StoredApp } from '../../store/account/credentials.ts';
import type { Profiles } from '../../store/account/profiles.ts';
import type { AppChoice } from './services.ts';

/** Which credentials there are, and which one is in use. */
export interface Accounts {
  licensingAccount(choice?: AppChoice): Promise<LicensingCredential>;
  chatAccount(): Promise<ChatCredential>;
  /** Which complete credentials the environment holds. */
  environmentKinds(): readonly Kind[];
  /** Every stored licensing application. */
  licensingApps(): Promise<readonly StoredApp[]>;
  profiles(): Profiles;
  /** The credential of a stored profile. */
  credentialOf(profile: string): Promise<LicensingCredential | ChatCredential>;
  /** The name of a server in journals and claims: its origin; the embedded sandbox has one name, whatever its port. */
  identityOf(credential: LicensingCredential): string;
}
