import { chanceOf, type Chance } from './chance.ts';
import { playLicensing, type LicensingPlan, type PlannedRun } from './licensing-history.ts';
import type { Mishap } from './licensing-server.ts';
import { applyRoster, ensureOf, fateOf, type SimulatedWorld } from './worlds.ts';

/** Names that are given, by a command that changes a license and by one that creates. */
const names = ['ada', 'ben', 'cyd'];
/** Users who have a license before the first run. */
const holders = ['xan', 'yve', 'zed'];

/** A line that gives a name, or takes one away; `{undo N}` stands for the name of that run. */
function renaming(chance: Chance, index: number): string {
  const [holder, name] = [chance.below(holders.length), chance.pick(names)];
  const rename = `license rename ${holders[holder]} ${name} -y -o ndjson`;
  const lines = [
    rename,
    rename,
    `license rename --from /home/ada/names.csv -y -o ndjson`,
    `license edit OTHER-${holder + 1} --remote-user ${name} -o ndjson`,
    `license retire --remote-user ${chance.pick([...names, ...holders])} -y -o ndjson`,
  ];
  if (index > 0 && chance.happens(0.2)) return `license undo {undo ${chance.below(index)}} -y -o ndjson`;
  return chance.pick(lines);
}

function creating(chance: Chance): string {
  return chance.pick([
    ...names.map((name) => ensureOf(name, false)),
    ensureOf(chance.pick(holders), false),
    applyRoster,
  ]);
}

/** A PATCH that has no answer is carried out late, or never. */
function lateRenames(chance: Chance): Mishap[] {
  return Array.from({ length: chance.below(3) }, () => ({
    method: chance.pick(['PATCH', 'PATCH', 'POST'] as const),
    nth: 1 + chance.below(3),
    reply: chance.pick(['dropped', '504', 'nothing', 'cut'] as const),
    ...(chance.happens(0.8) ? { commit: chance.pick([0, 700, 2000, 3900]) } : {}),
  }));
}

/** A change is carried out, and answered with the license of somebody else, or with its key. */
function aboutOthers(chance: Chance): Mishap[] {
  const reply = chance.pick(['other-user', 'other-key'] as const);
  return [1, 2, 3].map((nth) => ({ method: 'PATCH', nth, reply, commit: 0 }));
}

/** Changes of each kind stand in the queue of a server behind a gateway that gives up first. */
function queued(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const lines = [
    'license rename xan eve -y -o ndjson',
    'license edit OTHER-7 --size-allowance 6 -o ndjson',
    'license retire --remote-user zed -y -o ndjson',
    'license rename --from /home/ada/names.csv -y -o ndjson',
    ensureOf('yve', false),
    ensureOf('cyd', false),
  ];
  const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
    line: lines.splice(chance.below(lines.length), 1)[0] ?? '',
    pause: chance.below(1000),
    ...(index > 0 && chance.happens(0.4) ? { after: index - 1 } : {}),
  }));
  const queue = { workers: 1, order: 'fifo', cost: [500, 1900], limit: chance.pick([300, 1000]) } as const;
  const others = ['xan', 'yve', 'zed', 'mia', 'noa', 'ole', 'pam'].map((user) => ({
    user,
    size: user === 'yve' ? 3 : 4,
    at: 0,
  }));
  const names = ['mia', 'noa', 'ole'].map((user) => [user, `${user}-2`] as const);
  return { runs, others, names, queue: { ...queue, ...(chance.happens(0.5) ? { lost: [1, 3] } : {}) } };
}

function drawRenames(seed: number): LicensingPlan {
  const chance = chanceOf(seed);
  if (seed % 16 === 7) return { seed, ...queued(chance) };
  const isOn = { kill: chance.happens(0.4), disk: chance.happens(0.1) };
  const isShared = seed % 16 === 15;
  const runs = Array.from({ length: 2 + chance.below(4) }, (_, index): PlannedRun => {
    const after = index > 0 && chance.happens(0.3) ? { after: chance.below(index) } : {};
    const line = chance.happens(0.55) ? renaming(chance, index) : creating(chance);
    return {
      line,
      ...after,
      ...(isShared ? { computer: chance.below(3) } : {}),
      pause: chance.pick([0, 0, 0, 20, 50, 200, 1000, 4000]),
      fate: fateOf(chance, isOn, 110),
    };
  });
  return {
    ...{ seed, runs, others: holders.map((user) => ({ user, size: 4, at: 0 })) },
    ...{
      roster: names.map((user) => [user, 4] as const),
      names: holders.map((holder, at) => [holder, names[at] ?? ''] as const),
    },
    mishaps: chance.happens(0.15) ? aboutOthers(chance) : lateRenames(chance),
    shape: { stale: chance.pick([0, 0, 1000, 4000]) },
    ...(isShared ? { ledger: {} } : {}),
  };
}

/** Two runs at each distance, one of which gives the name that the other one creates or gives. */
async function* pairs(): AsyncGenerator<LicensingPlan> {
  const others = holders.map((user) => ({ user, size: 4, at: 0 }));
  const first = 'license rename zed ada -y -o ndjson';
  const seconds = [
    ensureOf('ada', false),
    applyRoster,
    'license rename yve ada -y -o ndjson',
    'license edit OTHER-2 --remote-user ada -o ndjson',
  ];
  for (const second of seconds)
    for (const commit of [undefined, 0, 2000, 3900])
      for (let pause = 0; pause < 300; pause += 20) {
        const mishaps = commit === undefined ? [] : [{ method: 'PATCH', nth: 1, reply: 'dropped', commit } as const];
        yield { seed: 1, runs: [{ line: first }, { line: second, pause }], others, roster: [['ada', 4]], mishaps };
      }
}

/** Runs of commands that give a name beside runs that create a license of that name. */
export const rename: SimulatedWorld<LicensingPlan> = {
  about:
    'license rename, edit, undo and retire beside ensure and apply: two to five runs, on up to three computers with a ledger',
  alone: [7, 15],
  draw: drawRenames,
  whole: pairs,
  play: playLicensing,
};
