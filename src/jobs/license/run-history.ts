import { once } from '../../core/batch.ts';
import { orWarn, warnOnce } from '../../core/failure.ts';
import { randomBytes } from '../../core/outside.ts';
import { urlOf } from '../../schema/profile.ts';
import { originOf } from '../../schema/url.ts';
import type { ChatCredential, LicensingCredential } from '../../store/account/credentials.ts';
import type { EntryOf, HistoryEvents, RunStamp } from '../../store/record/history.ts';
import type { RunHost, RunLedgers } from './run-ledgers.ts';

export type RunHistory = ReturnType<typeof openRunHistory>;

/** The history of this computer, to read and to add to; its code is loaded when it is used. */
export function openRunHistory(
  { command, runName, host, options, messages, identityOf }: RunHost,
  ledgers: RunLedgers,
) {
  const appending = once(async () => {
    const { openHistory } = await import('../../store/record/history.ts');
    return openHistory({ run: runName(), command }, host);
  });
  const warn = warnOnce(messages.warn);
  return {
    /** What runs of this computer did, from lines that hold a text, the oldest first. @throws Failure config */
    async past<K extends keyof HistoryEvents>(kind: K, holding?: string): Promise<readonly EntryOf<K>[]> {
      const { eachEntry } = await import('../../store/record/history.ts');
      const entries: EntryOf<K>[] = [];
      for await (const entry of eachEntry(host.system, kind, holding)) entries.push(entry);
      return entries;
    },
    /** Where this run records what it does on that server. */
    recorder: (credential: LicensingCredential | ChatCredential) => ({
      run: runName(),
      /** Appends to the history, for another run if one is named; if it cannot be written there is a warning, once. */
      async record(event: HistoryEvents[keyof HistoryEvents], by?: RunStamp): Promise<void> {
        if (options.dry_run) return;
        const append = await appending();
        const [origin, given] = [identityOf(credential), originOf(urlOf(credential))];
        const url = origin === 'sandbox' || origin === given ? undefined : given;
        const place = { origin, url, profile: credential.profile, ...by };
        const telling = append(place, event, async (entry) => {
          if (credential.kind === 'licensing' && 'remote_user' in entry) await ledgers.tell(credential, entry);
        });
        await orWarn(telling, warn, 'the history will not contain what this run does');
      },
    }),
  };
}

/** A name for each run, drawn when it is used. */
export function runNames(): () => string {
  // node:crypto is no part of a plain list.
  let drawn: string | undefined;
  return () => (drawn ??= drawRun());
}

/** Four signs that nobody mistakes for one another when they are read out. */
function drawRun(): string {
  const signs = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...randomBytes(4)].map((byte) => signs[byte % signs.length] ?? '').join('');
}
