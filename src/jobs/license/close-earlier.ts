import { sizeOf, type License } from '../../api/licensing/license.ts';
import type { PendingWrite } from '../../store/record/writes.ts';
import type { Case } from './case.ts';
import { completeHistory } from './history.ts';
import type { GivePorts } from './give-ports.ts';

/** Ends the writes of this run and of earlier ones: the list shows them, or they were not processed. */
export async function closeShown(
  { asked, recorded, seen, sent }: Case,
  licenses: readonly License[],
  { placesOf, history }: Pick<GivePorts, 'placesOf' | 'history'>,
): Promise<void> {
  const places = placesOf(asked.app_code);
  const { pending = [], open } = recorded ?? {};
  if (sent) await places.end(sent.id, { is: 'shown' });
  for (const write of pending) {
    const shown = licenses.find((license) => isMadeBy(write, license, licenses));
    if (!shown && !seen?.isSettled) continue;
    await places.end(write.id, { is: shown ? 'shown' : 'not carried out' });
    if (shown) await completeHistory(write, asked, shown, history);
  }
  if (!open) return;
  await places.end(open.id, { is: 'shown' });
  const shown = licenses.find(({ key }) => open.key_end !== undefined && key?.endsWith(open.key_end)) ?? licenses[0];
  if (shown) await completeHistory({ ...open, asked: { kind: 'creation' } }, asked, shown, history);
}

/** Whether a listed license is what that write made of the user's licenses. */
function isMadeBy({ asked }: PendingWrite, license: License, licenses: readonly License[]): boolean {
  const { kind, size_allowance: size, key_end, licenses: before = 0 } = asked;
  if (kind === 'creation') return licenses.length > before;
  return license.key?.slice(-4) === key_end && (size === undefined || sizeOf(license) === size);
}
