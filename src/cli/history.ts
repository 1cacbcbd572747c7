import type { Accounts, Disk } from '../commands/context.ts';
import { orWarn } from '../core/failure.ts';
import { randomBytes } from '../core/outside.ts';
import type { AppendHistory } from '../store/record/history.ts';
import type { Running } from './values.ts';

/** What this run tells of licenses, and what earlier ones told; its code is loaded when it is used. */
export function historyOf(
  command: string,
  { identityOf }: Pick<Accounts, 'identityOf'>,
  { host, options, messages }: Running,
): Pick<Disk, 'history' | 'recorder'> {
  let name: string | undefined;
  // Drawn where it is used: node:crypto is no part of a plain list.
  const run = (): string => (name ??= runName());
  const warned = new Set<string>();
  const warnOnce = (text: string): void => {
    if (!warned.has(text)) messages.warn(text);
    warned.add(text);
  };
  let opened: Promise<AppendHistory> | undefined;
  const open = async (): Promise<AppendHistory> =>
    (await import('../store/record/history.ts')).openHistory({ run: run(), command }, host);
  return {
    history: async () => (await import('../store/record/history.ts')).readHistory(host.system),
    recorder: (credential) => ({
      run: run(),
      async record(event) {
        if (options.dry_run) return;
        const append = await (opened ??= open());
        await orWarn(append(identityOf(credential), event), warnOnce, 'license history lacks what this run does');
      },
    }),
  };
}

/** Four signs that nobody mistakes for one another when they are read out. */
function runName(): string {
  const signs = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...randomBytes(4)].map((byte) => signs[byte % signs.length] ?? '').join('');
}
