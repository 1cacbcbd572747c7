import { failures, type FailureKind } from '../../src/core/failure.ts';
import { namesIn } from '../../src/core/table-names.ts';

/** Every command reads options, files and credentials, and can be interrupted. */
const always: readonly FailureKind[] = ['internal', 'usage', 'config', 'cancelled', 'terminated'];
/** It asks a server. */
const asks: readonly FailureKind[] = ['auth', 'rejected', 'unavailable'];
/** It names one thing, which may not be there. */
const names: readonly FailureKind[] = ['not_found'];
/** It takes many steps, of which some may fail. */
const steps: readonly FailureKind[] = ['incomplete'];
/** A request of it is not safe to repeat. */
const unsafe: readonly FailureKind[] = ['unknown'];
/** It finds what is not as it should be. */
const finds: readonly FailureKind[] = ['differences'];

/** Commands that ask no server. */
const offline =
  'settings list, settings describe, auth list, auth use, auth logout, auth token, sandbox serve, sandbox reset, completion, commands';

/** What each other command does that can fail; one that is not here may fail in every way. */
const kinds: Readonly<Record<string, readonly FailureKind[]>> = {
  'license create': [...asks, ...unsafe],
  'license list': [...asks, ...steps],
  'license view': [...asks, ...names, ...steps],
  'license edit': [...asks, ...names],
  'license ensure': [...asks, ...steps, ...unsafe],
  'license apply': [...asks, ...steps, ...unsafe, ...finds],
  'license audit': [...asks, ...steps, ...finds],
  'first-activation': [...asks, ...names, ...steps],
  'first-activation audit': [...asks, ...steps, ...finds],
  'settings set': [...asks, ...steps, ...unsafe],
  'messages fetch': [...asks, ...names, ...steps],
  'topic list': [...asks, ...names, ...steps],
  'topic delete': [...asks, ...names, ...steps],
  'view pin': [...asks, ...names, ...steps],
  'view hide': [...asks, ...names, ...steps],
  'view rename': [...asks, ...names, ...steps, ...unsafe],
  'snippet rm': [...asks, ...names, ...steps],
  'auth login': asks,
  'auth import': asks,
  'auth status': [...asks, ...steps],
  doctor: [...asks, ...names, ...steps],
};

/** The ways in which a command can fail, in the order of their exit codes. */
export function failuresOf(name: string): readonly FailureKind[] {
  const all = namesIn(failures);
  const own = offline.split(', ').includes(name) ? [] : kinds[name];
  return own ? all.filter((kind) => always.includes(kind) || own.includes(kind)) : all;
}
