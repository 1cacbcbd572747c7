import type { ChatApi } from '../../api/chat/chat.ts';
import type { Reach } from '../../api/http/proxy.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Service } from '../../api/raw-path.ts';
import type { RawAnswer, RawRequest } from '../../api/raw.ts';
import type { ChatCredential, LicensingCredential } from '../../store/account/credentials.ts';
import type { SandboxControl } from './sandbox-control.ts';

/** Both services, each with a credential that is looked up when the first request is sent, and the sandbox that serves both. */
export interface Services {
  licensing(choice?: AppChoice): LicensingApi;
  /** The licensing API with a credential that is not stored (yet). */
  licensingAs(credential: LicensingCredential): LicensingApi;
  chat(): ChatApi;
  /** The chat API with a credential that is not stored (yet). */
  chatAs(credential: ChatCredential): ChatApi;
  /** Either service without interpretation, for requests that a person writes. */
  raw(service: Service): RawApi;
  /** Asks a server for anything, without a credential. @throws Failure unavailable naming the obstacle */
  reach(url: string): Promise<Reach>;
  sandbox(): SandboxControl;
}

export interface AppChoice {
  /** Picks the stored application of that code. */
  readonly app_code?: number | undefined;
  /** The application of a row of a roster: that of the run, or a stored one. */
  readonly row_app_code?: number | undefined;
}

/** One answer, or those of every page of a list, as they come. */
export interface RawApi {
  one(request: RawRequest): AsyncIterable<RawAnswer>;
  pages(request: RawRequest): AsyncIterable<RawAnswer>;
}
