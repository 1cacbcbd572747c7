import { Failure } from '../../core/failure.ts';
import type { ConfiguredLedger, Ledgers } from '../context.ts';
import { attempt, problem, type Examined } from '../examined.ts';

/** Whether each configured ledger can be reached and used. */
export async function* examineLedgers({ ledgers }: Ledgers): AsyncGenerator<Examined> {
  let configured: readonly ConfiguredLedger[];
  try {
    configured = await ledgers();
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    yield problem('ledger', 'CHATELAINE_LEDGER', cause);
    return;
  }
  for (const { source, ledger } of configured) {
    yield* attempt(
      'ledger',
      source,
      () => ledger.examine(),
      () => 'reached',
    );
  }
}
