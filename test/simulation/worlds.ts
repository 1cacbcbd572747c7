import type { LicenseShape } from '../../src/sandbox/licensing/options.ts';
import { chanceOf, type Chance } from './chance.ts';
import type { Fate } from './computer.ts';
import { playLicensing, type LicensingPlan, type Verdict } from './licensing-history.ts';
import { replies, type Mishap } from './licensing-server.ts';
import { archive, purge } from './chat-worlds.ts';
import { signIn } from './sign-in-history.ts';

/** A kind of history; a plan is JSON, which only its world understands. */
export interface SimulatedWorld<Plan = unknown> {
  readonly about: string;
  /** A history that a seed decides. */
  draw(seed: number): Plan;
  /** Every history of a small world; `isNight`: those of a second kill too; `every`: of a large one each so manyth. */
  whole(isNight: boolean, every?: number): AsyncIterable<Plan>;
  play(plan: Plan, trace?: (line: string) => void): Promise<Verdict>;
}

function ensureOf(user: string, isAgain: boolean): string {
  const again = isAgain ? ` --send-again ${user}` : '';
  return `license ensure --remote-user ${user} --size-allowance 4${again} -o ndjson`;
}

const createAda = 'license create --remote-user ada --size-allowance 4 -o ndjson';
const ensureAda = ensureOf('ada', false);

const ensure: SimulatedWorld<LicensingPlan> = {
  about: 'license ensure: one to three users, up to four runs at once, on one or two computers',
  draw(seed) {
    const chance = chanceOf(seed);
    const isAgain = chance.happens(0.1);
    const users = ['ada', 'ben', 'cyd'].slice(0, isAgain ? 1 : 1 + chance.below(3));
    // Which faults are on at all is drawn first: all of them at once hide what one alone shows.
    const isOn = {
      kill: chance.happens(0.6),
      server: chance.happens(0.6),
      disk: chance.happens(0.2),
      others: chance.happens(0.2),
    };
    const runs = Array.from({ length: 1 + chance.below(4) }, (_, index) => ({
      line: ensureOf(chance.pick(users), isAgain && chance.happens(0.5)),
      ...(index > 0 && chance.happens(0.5) ? { after: chance.below(index) } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: { ...earlyDisk(chance, isOn), ...fateOf(chance, isOn, 110) },
    }));
    return {
      ...{ seed, runs },
      mishaps: isAgain ? keptByNobody(chance) : isOn.server ? mishapsOf(chance, runs.length) : [],
      others: isOn.others ? [{ user: 'ada', size: chance.pick([3, 4]), at: 0 }] : [],
      shape: {
        stale: chance.pick([0, 0, 1000, 4000]),
        filters: chance.pick(['changed', 'changed', 'ignored'] as const),
      },
    };
  },
  whole: (isNight) =>
    everyKill({ seed: 1, runs: [{ line: ensureAda }, { line: ensureAda, after: 0 }] }, isNight, 'POST'),
  play: playLicensing,
};

const create: SimulatedWorld<LicensingPlan> = {
  about: 'license create: up to three runs, each of which makes one license at most',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.6), disk: chance.happens(0.2) };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: createAda,
      ...(index > 0 ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: fateOf(chance, isOn, 110),
    }));
    return { seed, runs, mishaps: mishapsOf(chance, runs.length), shape: { stale: chance.pick([0, 0, 1000, 4000]) } };
  },
  whole: () => everyKill({ seed: 1, runs: [{ line: createAda }] }, false, 'POST'),
  play: playLicensing,
};

const applyRoster = 'license apply /home/ada/roster.csv -o ndjson -y';

const apply: SimulatedWorld<LicensingPlan> = {
  about: 'license apply: up to 30 rows, up to three runs, on one computer or two with one state folder',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.7), server: chance.happens(0.7), disk: chance.happens(0.2) };
    const roster = rosterOf(1 + (chance.happens(0.5) ? chance.below(4) : chance.below(30)));
    const isShared = chance.happens(0.2);
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: chance.happens(0.15) ? ensureAda : applyRoster,
      ...(index > 0 && chance.happens(0.7) ? { after: index - 1 } : {}),
      ...(isShared && chance.happens(0.5) ? { computer: 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: fateOf(chance, isOn, 60 + 10 * roster.length),
    }));
    const others = roster
      .filter(() => chance.happens(0.2))
      .map(([user]) => ({ user, size: chance.pick([3, 4]), at: 0 }));
    return {
      ...{ seed, runs, roster, others, ...(isShared ? { isShared } : {}) },
      mishaps: isOn.server ? mishapsOf(chance, runs.length * roster.length) : [],
      shape: shapeOf(chance),
    };
  },
  whole: (isNight) =>
    everyKill(
      { seed: 1, roster: rosterOf(1), runs: [{ line: applyRoster }, { line: applyRoster, after: 0 }] },
      isNight,
      'POST',
    ),
  play: playLicensing,
};

const retireAda = 'license retire OTHER-1 -y -o ndjson';

const retire: SimulatedWorld<LicensingPlan> = {
  about: 'license retire: one license, up to three runs',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.7), disk: chance.happens(0.3) };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: retireAda,
      ...(index > 0 && chance.happens(0.7) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000]),
      fate: fateOf(chance, isOn, 60),
    }));
    return { seed, runs, others: [adaBefore], mishaps: mishapsOf(chance, runs.length) };
  },
  whole: (isNight) =>
    everyKill(
      { seed: 1, others: [adaBefore], runs: [{ line: retireAda }, { line: retireAda, after: 0 }] },
      isNight,
      'PATCH',
    ),
  play: playLicensing,
};

const adaBefore = { user: 'ada', size: 4, at: 0 };

function rosterOf(rows: number): (readonly [string, number])[] {
  return Array.from({ length: rows }, (_, index) => [index === 0 ? 'ada' : `user-${index}`, 4] as const);
}

function shapeOf(chance: Chance): LicenseShape {
  const paged = {
    list_shape: chance.pick([
      'pages',
      'moving-front',
      'moving-end',
      'moving-hidden',
      'moving-front-uncounted',
      'next-path',
    ] as const),
    page_size: chance.pick([2, 5, 10]),
  };
  return {
    stale: chance.pick([0, 0, 1000, 4000]),
    filters: chance.pick(['changed', 'changed', 'exact', 'ignored'] as const),
    ...(chance.happens(0.4) ? paged : {}),
  };
}

/**
 * Every reply to the first request of that method, every moment at which it is carried out, and every call before which
 * the first run can be killed, interrupted, or lose its computer's power; at night the second run too, at each of its
 * calls.
 */
async function* everyKill(
  plain: LicensingPlan,
  isNight: boolean,
  method: Mishap['method'],
): AsyncGenerator<LicensingPlan> {
  const [first, ...others] = plain.runs;
  if (!first) return;
  for (const mishaps of everyMishap(method)) {
    const base = { ...plain, mishaps };
    const { calls } = await playLicensing(base);
    const seconds = isNight ? Array.from({ length: calls[1] ?? 0 }, (_, index) => index + 1) : [undefined];
    for (let at = 1; at <= (calls[0] ?? 0); at += 1)
      for (const how of ['kill', 'power', 'interrupt'] as const)
        for (const second of seconds) {
          const fate = second === undefined ? {} : { fate: endAt(second, how) };
          yield {
            ...base,
            runs: [{ ...first, fate: endAt(at, how) }, ...others.map((run) => ({ ...run, ...fate }))],
          };
        }
  }
}

/** An error of the disk while the folders and marks are made, which a run can survive, to be killed later. */
function earlyDisk(chance: Chance, { disk }: { readonly disk: boolean }): Fate {
  if (!disk || !chance.happens(0.3)) return {};
  return { disk: { at: 1 + chance.below(40), code: chance.pick(['ENOSPC', 'EIO', 'EIO', 'EROFS']) } };
}

function endAt(at: number, how: 'kill' | 'power' | 'interrupt'): Fate {
  return how === 'interrupt' ? { interrupt: { at } } : { kill: { at, how } };
}

/** What befalls a process: mostly nothing. */
export function fateOf(chance: Chance, isOn: { readonly kill: boolean; readonly disk: boolean }, calls: number): Fate {
  const at = 1 + chance.below(calls);
  if (isOn.kill && chance.happens(0.5)) {
    if (chance.happens(0.15)) return { stop: { at, span: chance.pick([500, 6000, 20_000]) } };
    if (chance.happens(0.15)) return { interrupt: { at } };
    return {
      kill: { at, how: chance.pick(['kill', 'kill', 'zombie', 'power']), loss: chance.pick(['all', 'none', 'drawn']) },
    };
  }
  if (isOn.disk && chance.happens(0.7)) return { disk: { at, code: chance.pick(['ENOSPC', 'EIO', 'EROFS']) } };
  return {};
}

function mishapsOf(chance: Chance, runs: number): Mishap[] {
  return Array.from({ length: 1 + chance.below(3) }, () => {
    const method = chance.pick(['POST', 'POST', 'GET', 'PATCH'] as const);
    const reply = chance.pick(replies);
    const commit = chance.pick([undefined, 0, 0, 700, 2000, 3900]);
    return { method, nth: 1 + chance.below(runs * 2), ...honest({ method, nth: 1, reply, commit }) };
  });
}

/** An answer whose license no list ever shows: what is sent again after it has no answer. */
function keptByNobody(chance: Chance): Mishap[] {
  const lost = { method: 'POST', nth: 2, reply: chance.pick(['dropped', '500', 'nothing', 'cut'] as const) } as const;
  return [{ method: 'POST', nth: 1, reply: 'made' }, chance.happens(0.5) ? lost : { ...lost, commit: 0 }];
}

/**
 * A refusal carries nothing out, and what is answered is kept: the rest are documented limits, which small worlds
 * count.
 */
function honest({
  reply,
  commit,
}: {
  readonly method: string;
  readonly nth: number;
  readonly reply: Mishap['reply'];
  readonly commit: number | undefined;
}): Pick<Mishap, 'reply' | 'commit'> {
  if (['400', '429', 'refused'].includes(reply)) return { reply };
  return commit === undefined ? { reply } : { reply, commit };
}

/**
 * Every pair of a reply and the moment at which the request is carried out; impossible ones and limits too, which are
 * counted.
 */
function* everyMishap(method: Mishap['method']): Generator<readonly Mishap[]> {
  for (const reply of replies)
    for (const commit of [undefined, 0, 2000, 4000])
      yield [{ method, nth: 1, reply, ...(commit === undefined ? {} : { commit }) }];
}

/** Where a plan is only JSON. */
function erased<Plan>({ about, draw, whole, play }: SimulatedWorld<Plan>): SimulatedWorld {
  return { about, draw, whole, play: (plan, trace) => play(plan as Plan, trace) };
}

export const worlds: Readonly<Record<string, SimulatedWorld>> = {
  ensure: erased(ensure),
  create: erased(create),
  apply: erased(apply),
  retire: erased(retire),
  purge: erased(purge),
  archive: erased(archive),
  'sign-in': erased(signIn),
};
