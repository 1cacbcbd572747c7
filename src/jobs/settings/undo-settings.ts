import { Failure, unless } from '../../core/failure.ts';
import { readSetting, settingField, unknownField, valueInWords } from '../../schema/setting-text.ts';
import type { EntryOf } from '../../store/record/history.ts';
import { isSame } from './present-settings.ts';

/** A setting that a run changed; `isKnown`: its request is known to be carried out. */
export interface PastSetting extends EntryOf<'setting'> {
  readonly isKnown: boolean;
}

/** The oldest first; what a server refused is none. */
export function settingChanges(entries: readonly EntryOf<'setting'>[]): PastSetting[] {
  const changes = new Map<string, PastSetting>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.run, entry.origin, entry.email, entry.setting]);
    if (entry.event === 'refused') changes.delete(key);
    else changes.set(key, { ...entry, isKnown: entry.event === 'changed' });
  }
  return [...changes.values()];
}

/** Whether a change put a setting back to what it was before another one. */
export function isUndoOf(later: PastSetting, change: PastSetting): boolean {
  const isOne = later.origin === change.origin && later.email === change.email && later.setting === change.setting;
  return isOne && later.isKnown && isSame(later.setting, change.value_before, later.value);
}

/** How a change is undone. A setting that was changed since is left alone, and one whose old value may not be sent. */
export function undoOf(change: PastSetting, present: ReadonlyMap<string, unknown>) {
  const { setting: name, value: left, value_before: old } = change;
  const field = settingField(name) ?? unknownField;
  const now = present.get(name);
  const [is, was, became] = [now, old, left].map((value) => valueInWords(field, value));
  const leave = (becomes: string) => ({ assignment: { name, field, value: old }, is: 'refused', becomes });
  if (!present.has(name) || !('value_before' in change)) return leave('the server does not tell what it was');
  if (isSame(name, now, old)) return { ...leave('is as it was before the run'), is: 'done' };
  if (!isSame(name, now, left)) return leave(`it is ${is} by now, and the run left ${became}`);
  const value = unless(Failure, () => readSetting(name, field, String(old)));
  if (value === undefined) return leave(`it was ${was}, which settings set refuses`);
  return { assignment: { name, field, value }, is: 'needed', becomes: `${is} -> ${was}` };
}
