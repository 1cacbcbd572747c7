import { variable, type Environment } from '../core/system.ts';

export interface ColorChoice {
  /** `--color`; auto where it is absent. */
  readonly when: 'auto' | 'always' | 'never' | undefined;
  readonly terminal: boolean;
  readonly env: Environment;
}

/** Colour is decided by what is typed, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, then the stream. */
export function hasColor({ when = 'auto', terminal, env }: ColorChoice): boolean {
  if (when !== 'auto') return when === 'always';
  if (variable(env, 'NO_COLOR') !== undefined) return false;
  const forced = variable(env, 'FORCE_COLOR');
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((variable(env, 'CLICOLOR_FORCE') ?? '0') !== '0') return true;
  return terminal && env['TERM'] !== 'dumb' && env['CLICOLOR'] !== '0';
}
