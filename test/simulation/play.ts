import type { Verdict } from './licensing-history.ts';
import { worlds, type SimulatedWorld } from './worlds.ts';

export { worlds };

/** A history that did what no rule allows. */
export interface Failing<Plan> {
  readonly plan: Plan;
  readonly wrongs: readonly string[];
  /** Its number in the search. */
  readonly history: number;
}

export interface SearchResult<Plan> {
  readonly histories: number;
  readonly cpuSeconds: number;
  readonly failing: readonly Failing<Plan>[];
  /** How many histories met each documented limit. */
  readonly limits: ReadonlyMap<string, number>;
  /** Calls to the outside of the run that made most. */
  readonly most: number;
}

export interface SearchEnd {
  /** Ends when so many histories did wrong. */
  readonly mostFailing: number;
  readonly mostCpuSeconds: number;
}

/** Plays one history after another until there are none, or the search is at its end. */
export async function search<Plan>(
  world: SimulatedWorld<Plan>,
  plans: AsyncIterable<Plan> | Iterable<Plan>,
  { mostFailing, mostCpuSeconds }: SearchEnd,
): Promise<SearchResult<Plan>> {
  const begin = process.cpuUsage();
  const cpuSeconds = (): number => {
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1e6;
  };
  const failing: Failing<Plan>[] = [];
  const limits = new Map<string, number>();
  let histories = 0;
  let most = 0;
  // Nobody reads the places of errors that are part of a history.
  Error.stackTraceLimit = 0;
  for await (const plan of plans) {
    const verdict = await world.play(plan);
    histories += 1;
    most = Math.max(most, ...verdict.calls);
    for (const limit of verdict.limits) limits.set(limit, (limits.get(limit) ?? 0) + 1);
    if (verdict.wrongs.length > 0) failing.push({ plan, wrongs: verdict.wrongs, history: histories });
    if (failing.length >= mostFailing || cpuSeconds() > mostCpuSeconds) break;
  }
  Error.stackTraceLimit = 10;
  return { histories, cpuSeconds: cpuSeconds(), failing, limits, most };
}

/** Histories of seeds, each so many after the one before it. */
export function* seeded<Plan>({ draw }: SimulatedWorld<Plan>, first: number, count: number, step = 1): Generator<Plan> {
  for (let number = 0; number < count; number += 1) yield draw(first + number * step);
}

/** Looks for a history that does wrong: in the small world and by seeds, or by those that are about `alone`. */
export async function hunt(name: string, mostCpuSeconds: number, alone?: number): Promise<SearchResult<unknown>> {
  const world = worlds[name];
  if (!world) throw new Error(`no world is called ${name}`);
  const plans = alone === undefined ? mixed(world) : seeded(world, 16 + alone, Infinity, 16);
  return search(world, plans, { mostFailing: 1, mostCpuSeconds });
}

/** Histories of the small world, spread over all of it, of seeds, and of seeds that are about one fault alone. */
async function* mixed(world: SimulatedWorld): AsyncGenerator {
  const small = [];
  for await (const plan of world.whole(false, world.share ?? 1)) small.push(plan);
  const step = 7919;
  const { alone = [] } = world;
  for (let seed = 1; ; seed += 1) {
    if (seed <= small.length) yield small[(seed * step) % small.length];
    yield world.draw(seed);
    if (alone.length > 0) yield world.draw(16 * seed + (alone[seed % alone.length] ?? 0));
  }
}

/**
 * The plan with as much taken out as it can spare: runs, faults, one at a time, from the end, as long as the history
 * still does the same wrong.
 */
export async function shrink<Plan>(world: SimulatedWorld<Plan>, plan: Plan): Promise<Plan> {
  const kind = kindOf(await world.play(plan));
  let smallest: unknown = plan;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const smaller of reductions(smallest)) {
      if (kindOf(await world.play(smaller as Plan)) !== kind) continue;
      smallest = smaller;
      isSmaller = true;
      break;
    }
  }
  return smallest as Plan;
}

/** What went wrong first, without numbers and keys. */
function kindOf({ wrongs: [first] }: Verdict): string | undefined {
  return first?.replaceAll(/[^a-z ]+/g, '').slice(0, 40);
}

/** What a history can do without; the rest of a run or a fault means nothing without all of it. */
const spare =
  /^(after|pause|computer|fate|kill|stop|disk|interrupt|by|late|again|stdout|clock|options|trouble|deeds|mishaps|others|shape|stale|cache|filters|names|list_shape|page_size|clockAhead|habits|finds|keys|isShared|commit|events)$/;

/** Every value with one thing less. */
function* reductions(value: unknown): Generator {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    for (let at = list.length - 1; at >= 0; at -= 1) yield list.toSpliced(at, 1);
    for (const [at, one] of list.entries()) for (const less of reductions(one)) yield list.with(at, less);
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    for (const [name] of members)
      if (spare.test(name)) yield Object.fromEntries(members.filter(([other]) => other !== name));
    for (const [name, one] of members) for (const less of reductions(one)) yield { ...value, [name]: less };
  }
}
