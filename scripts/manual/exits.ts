import { failures, type FailureKind } from '../../src/core/failure.ts';
import { namesIn } from '../../src/core/table-names.ts';

/** Every command reads options, files and credentials, and can be interrupted. */
const always: readonly FailureKind[] = ['internal', 'usage', 'config', 'hangup', 'cancelled', 'terminated'];
/** A command that sends requests can also fail in these ways. */
const asks: readonly FailureKind[] = ['auth', 'rejected', 'unavailable'];

/** Commands that send no request. */
const offline =
  'settings list, settings describe, auth use, auth logout, auth token, sandbox serve, sandbox reset, completion, commands';

/**
 * The other ways in which each command can fail; a command that is not here may fail in every way. `not_found`: it
 * names one thing; `incomplete`: it takes many steps; `unknown`: a request of it is not safe to repeat; `differences`:
 * it compares or audits.
 */
const kinds: Readonly<Record<string, readonly FailureKind[]>> = {
  'license create': [...asks, 'unknown'],
  'license list': [...asks, 'incomplete'],
  'license view': [...asks, 'not_found', 'incomplete'],
  'license edit': [...asks, 'not_found'],
  'license ensure': [...asks, 'incomplete', 'unknown'],
  'license apply': [...asks, 'incomplete', 'unknown', 'differences'],
  'license audit': [...asks, 'incomplete', 'differences'],
  'first-activation': [...asks, 'not_found', 'incomplete'],
  'first-activation audit': [...asks, 'incomplete', 'differences'],
  'settings set': [...asks, 'incomplete', 'unknown'],
  'messages fetch': [...asks, 'not_found', 'incomplete'],
  'topic list': [...asks, 'not_found', 'incomplete'],
  'topic delete': [...asks, 'not_found', 'incomplete'],
  'view pin': [...asks, 'not_found', 'incomplete'],
  'view hide': [...asks, 'not_found', 'incomplete'],
  'view rename': [...asks, 'not_found', 'incomplete', 'unknown'],
  'snippet rm': [...asks, 'not_found', 'incomplete'],
  'auth login': asks,
  'auth import': asks,
  'auth status': [...asks, 'incomplete'],
  doctor: [...asks, 'not_found', 'incomplete'],
};

/** The ways in which a command can fail, in the order of their exit codes. */
export function failuresOf(name: string): readonly FailureKind[] {
  const all = namesIn(failures);
  const own = offline.split(', ').includes(name) ? [] : kinds[name];
  return own ? all.filter((kind) => always.includes(kind) || own.includes(kind)) : all;
}
