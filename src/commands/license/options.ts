import { Failure } from '../../core/failure.ts';
import type { Fields } from '../../schema/field.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { Context } from '../context.ts';

/** Options of every command that may have to settle a doubt. */
export const settleOptions = {
  settle: {
    kind: 'duration',
    placeholder: 'DURATION',
    help: 'How long to wait after a lost answer before a list tells whether the request was carried out (default: 5s)',
  },
} as const satisfies Fields;

const defaultSettle = 5000;

/** What a job needs to settle a doubt. */
export function settlingOf(
  context: Context,
  settle = defaultSettle,
): {
  readonly settle: number;
  readonly sleep: (span: number) => Promise<void>;
  readonly note: (text: string) => void;
} {
  return { settle, sleep: (span) => context.sleep(span), note: (text) => context.note(text) };
}

/**
 * The code of the application: typed, else that of the credential.
 * @throws Failure config where nobody tells it
 */
export async function appCodeOf(context: Context, typed: number | undefined): Promise<number> {
  const code = typed ?? (await context.licensingAccount({ app_code: typed })).app_code;
  if (code !== undefined) return code;
  throw new Failure('config', 'the code of the application is not known', {
    hint: 'Give --app-code C, or set CHATELAINE_APP_CODE.',
  });
}

/**
 * Refuses a credential that may not write before anything at all is sent, the looks that come before a write included.
 * @throws Failure config
 */
export function refuseReadOnly({ read_only, profile }: LicensingCredential): void {
  if (!read_only) return;
  throw new Failure('config', `the profile ${profile ?? ''} is read-only: nothing was sent`, {
    hint: 'Choose another profile with --profile, or sign in again without --read-only.',
  });
}
