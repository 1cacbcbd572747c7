import { hash } from 'node:crypto';
import type { State } from '../state.ts';

/** The next license key; the same sequence in every sandbox, so that examples and tests can be repeated. */
export function newLicenseCode(state: State): string {
  const number = (state.counters.get('license') ?? 0) + 1;
  state.counters.put('license', number);
  return licenseCode(number);
}

export function licenseCode(number: number): string {
  const digits = hash('sha256', `sandbox license ${number}`).slice(0, 20).toUpperCase();
  return [0, 5, 10, 15].map((at) => digits.slice(at, at + 5)).join('-');
}
