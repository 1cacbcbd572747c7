import type { LicenseShape } from '../helpers/license-shapes.ts';
import type { LicenseRecord } from '../../src/sandbox/records.ts';
import { Computer, Process, World, type Fate } from './computer.ts';
import { createDisk, File, type Disk } from './disk.ts';
import type { Habits } from './habits.ts';
import { ledgerServer, putLedger, type LedgerPlan } from './ledger-server.ts';
import { judgeLicensing } from './licensing-judges.ts';
import {
  application,
  licensingKey,
  licensingServer,
  ownerOf,
  secondApplication,
  type KeyTrouble,
  type LicensingServer,
  type Mishap,
  type OtherLicense,
} from './licensing-server.ts';
import { dispatcherTo } from './network.ts';
import { closeAll } from './outside.ts';
import type { QueuePlan } from './server-queue.ts';

/** One run of a command in a history. */
export interface PlannedRun {
  readonly line: string;
  /** The number of its computer. */
  readonly computer?: number;
  /** Begins so many milliseconds after the run of that number has ended; without one after the beginning. */
  readonly after?: number;
  readonly pause?: number;
  readonly fate?: Fate;
  /** Options of this run alone; when the faults are over, its line is run without them. */
  readonly options?: string;
  /** What befalls the records of its computer before it begins: a crash tore a last line, or one changed. */
  readonly hurt?: 'torn' | 'flip';
}

/** Everything that chance decides of a history, but how long each call takes: that is the seed's. */
export interface LicensingPlan {
  readonly seed: number;
  readonly runs: readonly PlannedRun[];
  readonly mishaps?: readonly Mishap[];
  readonly others?: readonly OtherLicense[];
  readonly shape?: LicenseShape;
  /** The server carries requests out a few at a time, behind a gateway that gives up. */
  readonly queue?: QueuePlan;
  readonly habits?: Habits;
  /** The state folder is one file server's. */
  readonly isShared?: boolean;
  /** The computers share their claims by a ledger. */
  readonly ledger?: LedgerPlan;
  /** By how much the clock of the second computer is ahead. */
  readonly clockAhead?: number;
  /** Rows of /home/ada/roster.csv: user, size, and the application where there are two. */
  readonly roster?: readonly (readonly [user: string, size: number, app?: number])[];
  /** Keys of two applications are stored, and none is in the environment. */
  readonly hasTwoApps?: boolean;
  readonly trouble?: KeyTrouble;
  /** Rows of /home/ada/names.csv: a user and the new name. */
  readonly names?: readonly (readonly [user: string, name: string])[];
}

export interface Verdict {
  /** What no rule allows. */
  readonly wrongs: readonly string[];
  /** Documented limits that the history met: what they allow is no wrong. */
  readonly limits: readonly string[];
  /** Calls to the outside that each planned run made. */
  readonly calls: readonly number[];
}

/** What the judges look at: what the server holds, and what each run said. They know nothing of the program. */
export interface Ended {
  readonly plan: LicensingPlan;
  readonly server: LicensingServer;
  readonly licenses: readonly LicenseRecord[];
  readonly runs: readonly Process[];
  /** Runs of the same lines after all faults had ended, until they said 0. */
  readonly healed: readonly (readonly [line: string, runs: readonly Process[]])[];
  readonly computers: readonly Computer[];
}

export const deadline = 120_000;

/** The line with the limit of time that it has where it names none. */
export function withDeadline(line: string): string[] {
  return `${line}${line.includes(' --deadline ') ? '' : ` --deadline ${deadline}ms`}`.split(' ');
}

/** An option of a run that is a span, in milliseconds. */
export function spanOf({ line }: Pick<Process, 'line'>, name: 'deadline' | 'timeout' | 'settle'): number {
  const [, span] = new RegExp(` --${name} (\\d+)ms`).exec(line) ?? [];
  return span === undefined ? { deadline, timeout: 30_000, settle: 5000 }[name] : Number(span);
}
const mostHealing = 4;

/** Whether a server's filter does not work, so that its list of all licenses is the lookup. */
export function isByList({ shape, habits }: LicensingPlan): boolean {
  return shape?.filters === 'ignored' || habits?.finds !== undefined;
}

/** Plays a history from its beginning to its end. */
export async function playLicensing(plan: LicensingPlan, trace?: (line: string) => void): Promise<Verdict> {
  closeAll();
  const world = new World(plan.seed, trace);
  const share = plan.isShared ? createDisk() : undefined;
  const count = Math.max(0, ...plan.runs.map(({ computer = 0 }) => computer)) + 1;
  const computers = Array.from({ length: count }, (_, number) => new Computer(world, `vm${number + 1}`, share));
  computers.forEach((computer, number) => prepare(computer, plan, number));
  const server = licensingServer(world, plan.mishaps ?? [], plan.others ?? [], plan.shape, plan);
  if (plan.hasTwoApps) for (const computer of computers) await storeKeys(computer, server);
  const ledger = plan.ledger && ledgerServer(world, plan.ledger);
  if (ledger) putLedger(world, ledger);
  const start = (line: string, number: number, fate: Fate, hurt?: PlannedRun['hurt']): Process => {
    const computer = computers[number];
    if (!computer) throw new Error(`no computer ${number}`);
    if (hurt) hurtRecord(computer.disk, hurt);
    const state = {
      ...(plan.isShared ? { XDG_STATE_HOME: '/share' } : {}),
      ...(ledger ? { CHATELAINE_LEDGER: 'postgres://ada@localhost/ledger' } : {}),
    };
    // Lists of these worlds have no total, and are whole.
    const isTrusted = isByList(plan) && /^license (ensure|apply)/.test(line);
    return new Process(computer, {
      line: withDeadline(`${line}${isTrusted ? ' --trust-list' : ''}`),
      env: { ...(plan.hasTwoApps ? {} : environment), ...state },
      fate,
      dispatcher: dispatcherTo(server.server),
    });
  };

  const runs = await playRuns(world, plan.runs, (line, number, fate, hurt) => {
    const all = computers.flatMap(({ processes }) => processes);
    return start(withRunName(line, plan.runs, all), number, fate, hurt);
  });
  server.heal();
  ledger?.heal();
  // A `create` more would make a license more, and a name that was given is nobody's to rename.
  const lines = new Set(
    plan.runs
      .map(({ line }) => line)
      .filter((line) => /^license (ensure|apply (?!.*--dry-run)|retire OTHER)/.test(line)),
  );
  const healed = await heal(world, lines, (line) => start(line, 0, {}));
  const ofOwner = <T extends { readonly user: string; readonly app?: number }>(other: T): T => ({
    ...other,
    user: ownerOf(other.user, other.app),
  });
  const owned = {
    ...plan,
    ...(plan.others ? { others: plan.others.map(ofOwner) } : {}),
    ...(plan.roster ? { roster: plan.roster.map(([user, size, app]) => [ownerOf(user, app), size] as const) } : {}),
  };
  const licenses = server
    .licenses()
    .map((license) => ({ ...license, remote_user: ownerOf(license.remote_user, license.app_code) }));
  const { wrongs, limits } = judgeLicensing({ plan: owned, server, licenses, runs, healed, computers });
  return { wrongs, limits, calls: runs.map(({ calls }) => calls) };
}

/** The line with the name that the run of that number printed, as `license undo` asks for. */
function withRunName(line: string, planned: readonly PlannedRun[], runs: readonly Process[]): string {
  return line.replace(/\{undo (\d+)\}/, (_all, number: string) => {
    const of = planned[Number(number)]?.line ?? '';
    const printed = runs.findLast((run) => run.line.startsWith(of))?.stderr;
    return /license undo (\w{4})\b/.exec(printed ?? '')?.[1] ?? 'NONE';
  });
}

/** Runs each line again, all faults being over, until it says 0, is `settled`, or is unlikely ever to say 0. */
export async function heal(
  world: World,
  lines: Iterable<string>,
  start: (line: string) => Process,
  isSettled: (tries: readonly Process[]) => boolean = () => false,
): Promise<(readonly [line: string, runs: readonly Process[]])[]> {
  // Whatever is due is carried out, and no look after it is too early.
  let isQuiet = false;
  world.time.after(60_000, () => (isQuiet = true));
  await world.time.runUntil(() => isQuiet, Infinity);
  const healed: [string, Process[]][] = [];
  for (const line of lines) {
    const tries: Process[] = [];
    while (tries.length < mostHealing && tries.at(-1)?.exit !== 0 && !isSettled(tries)) {
      const run = start(line);
      tries.push(run);
      await world.time.runUntil(() => !run.isAlive, world.time.now() + 4 * deadline);
    }
    healed.push([line, tries]);
  }
  return healed;
}

export async function playRuns(
  world: World,
  planned: readonly PlannedRun[],
  start: (line: string, computer: number, fate: Fate, hurt?: PlannedRun['hurt']) => Process,
): Promise<Process[]> {
  const runs: (Process | undefined)[] = planned.map(() => undefined);
  const due = new Set(planned.keys());
  const begin = (index: number, { line, options, computer = 0, pause = 0, fate = {}, hurt }: PlannedRun): void => {
    due.delete(index);
    const whole = options === undefined ? line : `${line} ${options}`;
    world.time.after(pause, () => void (runs[index] = start(whole, computer, fate, hurt)));
  };
  const isOver = (): boolean => {
    for (const index of due) {
      const one = planned[index];
      const before = one?.after === undefined ? undefined : runs[one.after];
      if (one && (one.after === undefined || before?.ended !== undefined)) begin(index, one);
    }
    return runs.every((run) => run && !run.isAlive);
  };
  await world.time.runUntil(isOver, world.time.now() + planned.length * 4 * deadline);
  return runs.filter((run) => run !== undefined);
}

const environment = {
  CHATELAINE_BASE_URL: 'https://licensing.test',
  CHATELAINE_API_KEY: licensingKey,
  CHATELAINE_APP_CODE: '4711',
};

function prepare(computer: Computer, { roster, names, clockAhead = 0 }: LicensingPlan, number: number): void {
  if (number > 0) computer.clockAhead = clockAhead;
  const sheet = (name: string, header: string, rows: readonly (readonly unknown[])[] = []): void => {
    const text = [header, ...rows.map((row) => row.join(',')), ''].join('\n');
    computer.disk.open(`/home/ada/${name}.csv`, 0o101, 0o600).write(Buffer.from(text), null);
  };
  if (roster)
    sheet('roster', `remote_user,size_allowance${roster.some((row) => row.length > 2) ? ',app_code' : ''}`, roster);
  if (names) sheet('names', 'remote_user,new_remote_user', names);
  // As it was long before the first run.
  computer.disk.cutPower('none');
}

/** Signs in to both applications. */
async function storeKeys(computer: Computer, { server }: LicensingServer): Promise<void> {
  const { world, disk } = computer;
  for (const app of [application, secondApplication]) {
    disk.open('/home/ada/key', 0o101, 0o600).write(Buffer.from(`sandbox-key-of-app-${app}`), null);
    const line = `auth login licensing --base-url https://licensing.test --app-code ${app} --name app-${app} --api-key-file /home/ada/key --no-check -y`;
    const run = new Process(computer, { line: line.split(' '), env: {}, fate: {}, dispatcher: dispatcherTo(server) });
    await world.time.runUntil(() => !run.isAlive, Infinity);
    if (run.exit !== 0) throw new Error(run.stderr);
  }
  disk.cutPower('none');
}

/** Adds the half of a line to each record of requests, or changes its last one. */
function hurtRecord(disk: Disk, how: NonNullable<PlannedRun['hurt']>): void {
  for (const [path, bytes] of disk.files()) {
    const file = disk.find(path);
    if (!path.endsWith('.run') || !(file instanceof File)) continue;
    const start = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    const hurt = Buffer.from(bytes);
    // A number stays one.
    const sign = bytes.lastIndexOf('"time":') + '"time":'.length;
    hurt[sign] = (hurt[sign] ?? 0) ^ 1;
    file.bytes = file.synced =
      how === 'flip' ? hurt : Buffer.concat([bytes, bytes.subarray(start, (start + bytes.length) >> 1)]);
  }
}
