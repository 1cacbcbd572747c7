import type { Milliseconds } from '../../core/duration.ts';
import type { licensingOptions } from '../../sandbox/licensing/options.ts';
import type { Values } from '../../schema/field.ts';

/** The sandbox as its own commands see it. */
export interface SandboxControl {
  /** Yields the address once it listens, and serves until the signal aborts. */
  serve(options: ServeOptions): AsyncGenerator<SandboxAddress>;
  /** Forgets everything but the sample data; the file that held it. */
  reset(): Promise<string>;
  /** The file that keeps what the embedded sandbox holds. */
  file(): string;
}

export interface ServeOptions extends Values<typeof licensingOptions> {
  readonly port?: number | undefined;
  readonly listen?: string | undefined;
  readonly data?: string | undefined;
  readonly feature_level?: number | undefined;
  readonly history_limit?: number | undefined;
  readonly extra_messages?: number | undefined;
  readonly delete_batches?: number | undefined;
  readonly rate_limit?: number | undefined;
  readonly latency?: Milliseconds | undefined;
  readonly fault?: string | undefined;
  readonly seed?: number | undefined;
  readonly log?: string | undefined;
  /** A file that is written, whole, once the server listens. */
  readonly ready?: { readonly file: string; readonly text: (address: SandboxAddress) => string } | undefined;
}

/** What a client needs to reach a sandbox: the accounts are its sample data, no secrets. */
export interface SandboxAddress {
  readonly licensing: {
    readonly base_url: string;
    readonly app_code: number;
    readonly api_key: string;
    readonly apps: readonly unknown[];
  };
  readonly chat: {
    readonly site: string;
    readonly email: string;
    readonly api_key: string;
    readonly accounts: readonly unknown[];
  };
}
