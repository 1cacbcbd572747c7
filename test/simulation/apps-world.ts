import { chanceOf, type Chance } from './chance.ts';
import { playLicensing, type LicensingPlan } from './licensing-history.ts';
import { application, secondApplication, type KeyTrouble } from './licensing-server.ts';
import { applyRoster, ensureOf, everyKill, fateOf, mishapsOf, type SimulatedWorld } from './worlds.ts';

const apps = [application, secondApplication];

/** Rosters with the application of each row, whose keys are stored: one of them may be refused for a while, or slow. */
export const rosters: SimulatedWorld<LicensingPlan> = {
  about: 'license apply of a roster of two applications, of which one may refuse its key; up to three runs',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.6), server: chance.happens(0.5), disk: chance.happens(0.15) };
    const roster = rosterOf(chance, 1 + chance.below(chance.pick([4, 10])));
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: chance.happens(0.2) ? `${ensureOf('ada', false)} --app-code ${chance.pick(apps)}` : applyRoster,
      ...(index > 0 && chance.happens(0.7) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: fateOf(chance, isOn, 90 + 12 * roster.length),
    }));
    const others = roster
      .filter(() => chance.happens(0.2))
      .map(([user, , app]) => ({ user, app, size: chance.pick([3, 4]), at: 0 }));
    return {
      ...{ seed, runs, roster, others, hasTwoApps: true },
      ...(chance.happens(0.5) ? { trouble: troubleOf(chance) } : {}),
      mishaps: isOn.server ? mishapsOf(chance, runs.length * roster.length) : [],
      shape: { stale: chance.pick([0, 0, 1000, 4000]), filters: chance.pick(['changed', 'changed', 'exact'] as const) },
    };
  },
  whole: (isNight, every) =>
    everyKill(
      {
        ...{ seed: 1, hasTwoApps: true, roster: apps.map((app) => ['ada', 4, app] as const) },
        runs: [{ line: applyRoster }, { line: applyRoster, after: 0 }],
      },
      isNight,
      'POST',
      every,
    ),
  play: playLicensing,
};

function rosterOf(chance: Chance, rows: number): (readonly [user: string, size: number, app: number])[] {
  const all = ['ada', 'ben', 'cyd', 'dan', 'eve'].flatMap((user) => apps.map((app) => [user, 4, app] as const));
  return Array.from({ length: Math.min(rows, all.length) }, () => all.splice(chance.below(all.length), 1)).flat();
}

function troubleOf(chance: Chance): KeyTrouble {
  const does = chance.pick(['refuse', 'refuse', 'delay'] as const);
  return { app: chance.pick(apps), does, from: 1 + chance.below(8), count: chance.pick([1, 3, 100]) };
}
