import { chanceOf, type Chance } from './chance.ts';
import { Computer, Process, World, type Fate } from './computer.ts';
import { heal, playRuns, withDeadline, type PlannedRun, type Verdict } from './licensing-history.ts';
import { licensingServer } from './licensing-server.ts';
import { dispatcherTo } from './network.ts';
import { closeAll } from './outside.ts';
import { judgeSignIn, storedOn, type Stored } from './sign-in-judges.ts';
import { fateOf, type SimulatedWorld } from './worlds.ts';

/** Everything that chance decides of a history, but how long each call takes: that is the seed's. */
export interface SignInPlan {
  readonly seed: number;
  readonly runs: readonly PlannedRun[];
}

/** What the judges look at. */
export interface SignInEnded {
  readonly runs: readonly Process[];
  /** What was stored when these had ended; undefined: not readable. */
  readonly stored: Stored | undefined;
  readonly healed: readonly Process[];
  readonly computer: Computer;
}

export const signIn: SimulatedWorld<SignInPlan> = {
  about: 'auth login, use and logout: up to four runs at once, that write the same two files',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.6), disk: chance.happens(0.3) };
    const runs = Array.from({ length: 2 + chance.below(3) }, (_, index) => ({
      line: lineOf(chance, index),
      ...(index > 0 && chance.happens(0.4) ? { after: chance.below(index) } : {}),
      pause: chance.pick([0, 0, 0, 20, 50, 1000]),
      fate: fateOfWriter(chance, isOn),
    }));
    return { seed, runs };
  },
  async *whole(isNight) {
    const lines = [login('a', 4711, 'key-1'), login('b', 4712, 'key-2'), 'auth logout a'];
    const plain = { seed: 1, runs: lines.map((line, index) => ({ line, ...(index > 0 ? { after: index - 1 } : {}) })) };
    const { calls } = await playSignIn(plain);
    const kills = (run: number): readonly Fate[] =>
      Array.from({ length: calls[run] ?? 0 }, (_, index) => [
        ...(['kill', 'power'] as const).map((how) => ({ kill: { at: index + 1, how } })),
        { disk: { at: index + 1, code: 'ENOSPC' } },
      ]).flat();
    for (const run of plain.runs.keys())
      for (const fate of kills(run))
        for (const next of isNight && run < 2 ? kills(run + 1) : [{}])
          yield {
            ...plain,
            runs: plain.runs.map((one, index) => ({
              ...one,
              fate: index === run ? fate : index === run + 1 ? next : {},
            })),
          };
  },
  play: playSignIn,
};

/** A disk fails where the two files are written: of the fifty calls before that other worlds have the same. */
function fateOfWriter(chance: Chance, isOn: { readonly kill: boolean; readonly disk: boolean }): Fate {
  const fate = fateOf(chance, isOn, 100);
  if (!fate.disk) return fate;
  return { disk: { at: 50 + chance.below(50), code: chance.pick(['ENOSPC', 'ENOSPC', 'EIO', 'EROFS']) } };
}

/** Each run has a key of its own, unless the server is to try it. */
function lineOf(chance: Chance, index: number): string {
  const name = chance.pick(['a', 'a', 'b', 'c']);
  const kind = chance.pick(['login', 'login', 'login', 'use', 'logout', 'all', 'chat', 'checked']);
  if (kind === 'login') return login(name, chance.pick([4711, 4712]), `key-${index + 1}`);
  if (kind === 'checked') return login(name, 4711, 'key-of-4711').replace(' --no-check', '');
  if (kind === 'chat')
    return `auth login chat --site https://chat.test --email ada@chat.test --name ${name} --api-key-file /home/ada/key-${index + 1} --no-check -y -o ndjson`;
  if (kind === 'all') return 'auth logout --all -y -o ndjson';
  return `auth ${kind} ${name} -o ndjson`;
}

function login(name: string, code: number, file: string): string {
  return `auth login licensing --base-url https://licensing.test --app-code ${code} --name ${name} --api-key-file /home/ada/${file} --no-check -y -o ndjson`;
}

/** Plays a history from its beginning to its end. */
async function playSignIn({ seed, runs: planned }: SignInPlan, trace?: (line: string) => void): Promise<Verdict> {
  closeAll();
  const world = new World(seed, trace);
  const computer = new Computer(world, 'vm1');
  for (const [name, key] of keyFiles)
    computer.disk.open(`/home/ada/${name}`, 0o101, 0o600).write(Buffer.from(`${key}\n`), null);
  computer.disk.cutPower('none');
  const { server } = licensingServer(world, [], []);
  const start = (line: string, _number: number, fate: Fate): Process =>
    new Process(computer, { line: withDeadline(line), ...{ env: {}, fate, dispatcher: dispatcherTo(server) } });
  const runs = await playRuns(world, planned, start);
  const stored = storedOn(computer);
  // Every profile that a run names is stored first, and one that is forgotten is forgotten last.
  const lines = [...new Set(planned.map(({ line }) => line))];
  const names = lines.flatMap((line) => /^auth (?:use|logout) (\w+)/.exec(line)?.[1] ?? []);
  const order = ['auth login', 'auth use', 'auth logout ', 'auth logout --all'];
  const healing = [
    ...new Set(names.map((name) => login(name, 4711, 'key-9'))),
    ...order.flatMap((begin) =>
      lines.filter((line) => line.startsWith(begin) && (begin !== 'auth logout ' || !line.includes('--all'))),
    ),
  ];
  const healed = await heal(world, healing, (line) => start(line, 0, {}));
  const wrongs = judgeSignIn({ runs, stored, healed: healed.flatMap(([, all]) => all), computer });
  return { wrongs, limits: [], calls: runs.map(({ calls }) => calls) };
}

const keyFiles = [
  ...Array.from({ length: 9 }, (_, index) => [`key-${index + 1}`, `key-number-${index + 1}`] as const),
  ['key-of-4711', 'sandbox-key-of-app-4711'] as const,
];
