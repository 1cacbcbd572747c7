import type { Environment } from '../core/world.ts';
import { variable } from '../core/world.ts';

export interface ColorChoice {
  /** `--color`. */
  readonly when: 'auto' | 'always' | 'never';
  /** Whether the stream is a terminal. */
  readonly terminal: boolean;
  readonly env: Environment;
}

/**
 * Whether colour may be written: 0 is no, 1 is the sixteen colours every terminal has. What is typed wins, then whoever asks for
 * none (NO_COLOR, no-color.org), then whoever forces it (FORCE_COLOR, CLICOLOR_FORCE), then what the stream is.
 */
export function colorLevel({ when, terminal, env }: ColorChoice): 0 | 1 {
  if (when !== 'auto') return when === 'always' ? 1 : 0;
  if (variable(env, 'NO_COLOR') !== undefined) return 0;
  const forced = variable(env, 'FORCE_COLOR');
  if (forced !== undefined) return forced === '0' || forced === 'false' ? 0 : 1;
  if ((variable(env, 'CLICOLOR_FORCE') ?? '0') !== '0') return 1;
  return terminal && env['TERM'] !== 'dumb' && env['CLICOLOR'] !== '0' ? 1 : 0;
}
