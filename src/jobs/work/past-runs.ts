import { Failure, type FailureKind } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { EntryStamp } from '../../store/record/history.ts';

const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'rejected', 'usage', 'not_found']);

/** Whether the server certainly changed nothing; not where what is read back contradicts an answer of success. */
export function isRefusal(cause: unknown): boolean {
  return cause instanceof Failure && refusals.has(cause.kind) && (cause.details.http?.status ?? 400) >= 400;
}

/** A change that is recorded before and after, so that an undo knows what a kill left. @throws as the change */
export async function recordAround<T>(
  record: (event: 'changing' | 'changed' | 'refused') => Promise<void>,
  change: () => Promise<T>,
): Promise<T> {
  await record('changing');
  try {
    const result = await change();
    await record('changed');
    return result;
  } catch (cause) {
    if (isRefusal(cause)) await record('refused');
    throw cause;
  }
}

/**
 * The changes of one run, oldest first: of the one of that name, else of the last that is no undo and not undone whole.
 * @throws Failure not_found
 */
export function runToUndo<C extends EntryStamp>(
  changes: readonly C[],
  named: string | undefined,
  noun: 'license' | 'setting',
  isUndoOf: (later: C, change: C) => boolean,
): readonly C[] {
  const isUndo = ({ command }: C): boolean => command.endsWith(' undo');
  const isOpen = (change: C, at: number): boolean =>
    !isUndo(change) && !changes.some((later, index) => index > at && isUndo(later) && isUndoOf(later, change));
  const run = named?.toUpperCase() ?? changes.findLast(isOpen)?.run;
  const ofRun = changes.filter((change) => change.run === run);
  // Two runs may have one name: the later one is meant.
  if (ofRun.length > 0 && ofRun[0]?.command === ofRun.at(-1)?.command) return ofRun;
  const none =
    changes.length > 0 ? 'every run of this computer is undone' : `no run of this computer changed a ${noun}`;
  const look = noun === 'license' ? ` Look with: ${commandLine('license history', [])}` : '';
  throw new Failure('not_found', named === undefined ? none : `no run is named ${named.toUpperCase()}`, {
    hint: `Runs on other computers are in their own histories.${look}`,
  });
}

/** What one server has says nothing of another one. @throws Failure config */
export function refuseOtherServer(changes: readonly EntryStamp[], origin: string): void {
  const other = changes.find((change) => change.origin !== origin);
  if (!other) return;
  throw new Failure(
    'config',
    `run ${other.run} was on ${other.url ?? other.origin}, and the credential is for ${origin}`,
    {
      hint: 'Name the profile of that server with --profile.',
    },
  );
}
