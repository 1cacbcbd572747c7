import { levels } from './levels.ts';

/**
 * The field that names parameters which the endpoint does not know. Settings have it since level 78, the others since 167
 * (docs/apis.md, Parameters).
 */
export function ignoredField(
  level: number,
  since: number,
  names: readonly string[],
): { readonly ignored_parameters_unsupported?: readonly string[] } {
  return names.length > 0 && level >= since ? { ignored_parameters_unsupported: names } : {};
}

export const ignoredSince = { settings: 78, others: levels.ignoredParameters } as const;
