import { slipsBetween } from '../../schema/nearest.ts';
import { foldName, resolvedPrefix } from '../../schema/topic.ts';

export function isResolved(name: string): boolean {
  return name.startsWith(resolvedPrefix);
}

/** Maximum number of names that an error suggests. */
const maxSuggestions = 5;

/** Of the known names those nearest to the wanted one, the nearest first; `✔ ` counts as nothing. */
export function nearNames(wanted: string, known: Iterable<string>): string[] {
  const core = coreOf(wanted);
  const furthest = Math.max(2, Math.ceil(core.length * 0.4));
  return [...known]
    .map((name) => ({ name, distance: distanceOf(core, coreOf(name)) }))
    .filter(({ distance }) => distance <= furthest)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}

function coreOf(name: string): string {
  return foldName(isResolved(name) ? name.slice(resolvedPrefix.length) : name).trim();
}

/** A name that holds the wanted one is near, however long it is. */
function distanceOf(wanted: string, name: string): number {
  if (wanted.length >= 3 && name !== wanted && name.includes(wanted)) return 1;
  return slipsBetween(wanted, name);
}
