import { chanceOf, type Chance } from './chance.ts';
import { disksOf, type Fate } from './computer.ts';
import type { LicensingPlan, PlannedRun } from './licensing-history.ts';

/** What every world can have beside its own faults. */
interface Plan {
  readonly seed: number;
  readonly runs: readonly PlannedRun[];
}

type Kind = (chance: Chance, run: PlannedRun) => Partial<Pick<PlannedRun, 'fate' | 'options'>>;

const withFate =
  (draw: (chance: Chance) => Fate): Kind =>
  (chance, { fate }) => ({ fate: { ...fate, ...draw(chance) } });

/** A place in a run: half of them early. */
const place = (chance: Chance): number => 1 + chance.below(chance.pick([60, 200]));

/** Of a file with times of the program, as an archive is, judges would have to know the clock. */
const setClock = withFate((chance) => ({
  clock: { at: place(chance), by: chance.pick([-3_600_000, -3000, 3000, 3_600_000]) },
}));

/** While a run waits for an answer it makes no call: many signals come a little later than the call. */
function lateAt(at: number): { readonly at: number; readonly late?: number } {
  return at % 3 === 0 ? { at } : { at, late: (at % 3) * 8 };
}

const kinds: readonly Kind[] = [
  withFate((chance) => ({
    interrupt: {
      ...lateAt(place(chance)),
      by: chance.pick(['SIGINT', 'SIGTERM', 'SIGHUP']),
      ...(chance.happens(0.4) ? { again: chance.pick([5, 50, 2000]) } : {}),
    },
  })),
  withFate((chance) => ({ stdout: { nth: 1 + chance.below(3), code: chance.pick(['EPIPE', 'ENOSPC']) } })),
  (chance, { fate }) => ({ fate: { ...fate, disk: disksAfter(chance, fate) } }),
  (chance, { line }) => ({ options: optionsOf(chance, line) }),
];

/** One failure more than the run has: after its effect, or of a sync that drops what it had. */
function disksAfter(chance: Chance, fate: Fate = {}): NonNullable<Fate['disk']> {
  const of = chance.pick([undefined, 'after', 'sync'] as const);
  const fault = { at: place(chance), code: chance.pick(['EIO', 'EIO', 'ENOSPC']), ...(of ? { of } : {}) };
  return [...disksOf(fate), fault, ...(chance.happens(0.3) ? [{ ...fault, at: fault.at + chance.below(60) }] : [])];
}

function optionsOf(chance: Chance, line: string): string {
  const settle = /^license (ensure|create|apply)/.test(line) ? [`--settle ${chance.pick([2000, 8000, 20_000])}ms`] : [];
  return chance.pick([
    `--deadline ${chance.pick([50, 400, 3000, 20_000])}ms`,
    `--timeout ${chance.pick([1000, 5000, 60_000])}ms`,
    `--retries ${chance.pick([0, 1, 10])}`,
    ...settle,
  ]);
}

/** A plan with one kind of them, or two, that runs meet; in most histories there is none. */
export function withCircumstances<P extends Plan>(plan: P, among = kinds): P {
  const chance = chanceOf(plan.seed ^ 0x5bd1_e995);
  if (chance.happens(0.65)) return plan;
  const on = [chance.pick(among), ...(chance.happens(0.3) ? [chance.pick(among)] : [])];
  const runs = plan.runs.map((run) =>
    on.reduce((one, kind) => (chance.happens(0.6) ? { ...one, ...kind(chance, one) } : one), run),
  );
  return { ...plan, runs };
}

/** The same of a licensing world, whose clocks are set too. */
export function withSurroundings(plan: LicensingPlan): LicensingPlan {
  return withCircumstances(plan, [...kinds, setClock]);
}
