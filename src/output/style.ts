import { variable, type Environment } from '../core/system.ts';

export interface ColorChoice {
  /** `--color`; auto where it is absent. */
  readonly when: 'auto' | 'always' | 'never' | undefined;
  readonly terminal: boolean;
  readonly env: Environment;
}

/** Colour is decided by what is typed, then NO_COLOR and FORCE_COLOR, then the stream. */
export function hasColor({ when = 'auto', terminal, env }: ColorChoice): boolean {
  if (when !== 'auto') return when === 'always';
  if (variable(env, 'NO_COLOR') !== undefined) return false;
  const forced = variable(env, 'FORCE_COLOR');
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return terminal && env['TERM'] !== 'dumb';
}
