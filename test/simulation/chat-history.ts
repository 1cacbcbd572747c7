import { dirname } from 'node:path';
import type { FilesPlan } from './attached-files.ts';
import { account, chatServer, topic, type ChatMishap, type ChatServer, type Deed } from './chat-server.ts';
import { Computer, Process, World, type Fate } from './computer.ts';
import { deadline, heal, playRuns, withDeadline, type PlannedRun, type Verdict } from './licensing-history.ts';
import { dispatcherTo } from './network.ts';
import { closeAll } from './outside.ts';
import { setSizes, type Sizes } from './sizes.ts';

/** Everything that chance decides of a history, but how long each call takes: that is the seed's. */
export interface ChatPlan {
  readonly seed: number;
  /** Of the topic at the beginning. */
  readonly messages: number;
  /** Messages of the topic `elsewhere` at the beginning. */
  readonly elsewhere?: number;
  /** Requests that the server takes in an hour. */
  readonly perHour?: number;
  /** Lines of the file of holds. */
  readonly keep?: readonly Hold[];
  readonly runs: readonly PlannedRun[];
  readonly level?: number;
  /** Batches of 100 messages that a call has time for. */
  readonly batches?: number;
  readonly mishaps?: readonly ChatMishap[];
  readonly people?: readonly Deed[];
  readonly sizes?: Partial<Sizes>;
  /** Attached files that messages name. */
  readonly files?: FilesPlan;
  /** When somebody moves the folder of the archives away. */
  readonly take?: Pick<Deed, 'at' | 'on'>;
}

/** A topic that is held, by its name or by messages: the nth of the topic; a message that there is not is `lost`. */
export type Hold =
  { readonly topic_name: string } | { readonly nths: readonly number[] } | { readonly ids: readonly [typeof lostId] };

export const lostId = 999_999;
/** Of a topic that there is not. */
export const otherName = 'lunch';

/** What the judges look at. */
export interface ChatEnded {
  readonly plan: ChatPlan;
  readonly server: ChatServer;
  readonly runs: readonly Process[];
  readonly healed: readonly (readonly [line: string, runs: readonly Process[]])[];
  readonly computer: Computer;
  /** When the folder of the archives was moved away; Infinity where it was not. */
  readonly taken: number;
}

export const archiveFolder = '/home/ada/archive';
/** Where the folder is that somebody moved away. */
export const awayFolder = '/home/ada/away';
const holdFile = '/home/ada/hold.ndjson';
export const purgeLine = `topic delete id:1 ${topic} --confirm ${topic} --archive ${archiveFolder} -o ndjson`;
export const holdingLine = `${purgeLine} --hold ${holdFile}`;
export const closing = ' --missing-ok';

type Judge = (ended: ChatEnded) => Pick<Verdict, 'wrongs' | 'limits'>;

/** Plays a history from its beginning to its end; once all is healed, `last` are lines that look at an archive. */
export async function playChat(
  plan: ChatPlan,
  judge: Judge,
  {
    trace,
    last = [],
  }: { readonly trace?: ((line: string) => void) | undefined; readonly last?: readonly string[] } = {},
): Promise<Verdict> {
  closeAll();
  setSizes(plan.sizes);
  const world = new World(plan.seed, trace);
  const computer = new Computer(world, 'vm1');
  let taken = Infinity;
  const server = chatServer(world, plan, () => {
    if (!computer.disk.has(archiveFolder) || computer.disk.has(awayFolder)) return;
    try {
      computer.disk.rename(archiveFolder, awayFolder);
      // A real disk loses the old or the new name of a folder, and not both.
      computer.disk.open(dirname(awayFolder), 0, 0).sync();
    } catch {
      // The disk is read-only.
      return;
    }
    taken = world.time.now();
    world.tell('people', () => `move ${archiveFolder} away`);
  });
  if (plan.keep) {
    const rows = plan.keep.map((hold) => ('nths' in hold ? { ids: heldIn(hold, server) } : hold));
    const file = computer.disk.open(holdFile, 0o101, 0o600);
    file.write(Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')), null);
    computer.disk.cutPower('none');
  }
  const start = (line: string, _number: number, fate: Fate): Process =>
    new Process(computer, {
      line: withDeadline(line),
      env: environment,
      fate,
      dispatcher: dispatcherTo(server.server),
    });
  const runs = await playRuns(world, plan.runs, start);
  server.heal();
  const again = (lines: readonly string[]): ReturnType<typeof heal> =>
    heal(world, lines, (line) => start(line, 0, {}), isSettled);
  const healed = await again([...new Set(plan.runs.map(({ line }) => line))]);
  // What an earlier run was not answered is closed by --missing-ok, as its error says.
  const open = healed.filter(([line, all]) => line.startsWith('topic delete') && all.at(-1)?.exit === 8);
  healed.push(...(await again(open.map(([line]) => line + closing))));
  for (const line of computer.disk.files().has(`${archiveFolder}/archive.json`) ? last : []) {
    const run = start(line, 0, {});
    await world.time.runUntil(() => !run.isAlive, world.time.now() + 4 * deadline);
    healed.push([line, [run]]);
  }
  const { wrongs, limits } = judge({ plan, server, runs, healed, computer, taken });
  return { wrongs, limits, calls: runs.map(({ calls }) => calls) };
}

/** The ids of a hold by messages. */
export function heldIn({ nths }: { readonly nths: readonly number[] }, { first }: Pick<ChatServer, 'first'>): number[] {
  return nths.flatMap((nth) => first[nth % first.length] ?? []);
}

/** Nothing is left of the topic; or a run said the same as the one before it, and so would the next. */
function isSettled(tries: readonly Process[]): boolean {
  const [before, last] = [tries.at(-2), tries.at(-1)];
  const isSame = before?.exit === last?.exit && before?.stdout === last?.stdout && before?.stderr === last?.stderr;
  return last?.exit === 5 || (before !== undefined && isSame);
}

const environment = {
  CHATELAINE_CHAT_SITE: 'https://chat.test',
  CHATELAINE_CHAT_EMAIL: account?.email ?? '',
  CHATELAINE_CHAT_API_KEY: account?.api_key ?? '',
};
