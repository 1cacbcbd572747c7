import type { Computer, Process } from './computer.ts';
import { Folder } from './disk.ts';
import { deadline } from './licensing-history.ts';
import type { SignInEnded } from './sign-in-history.ts';

/** What the two files hold. */
export interface Stored {
  /** By name: what kind, and whose. */
  readonly profiles: Readonly<Record<string, string>>;
  readonly defaults: Readonly<Record<string, string>>;
  /** By the name of their profile. */
  readonly keys: Readonly<Record<string, string>>;
}

const folder = '/home/ada/.config/chatelaine';
const nothing: Stored = { profiles: {}, defaults: {}, keys: {} };

export function storedOn({ disk }: Computer): Stored | undefined {
  const read = (name: string): unknown => JSON.parse(disk.files().get(`${folder}/${name}.json`)?.toString() ?? '{}');
  try {
    const { profiles = {}, defaults = {} } = read('config') as {
      readonly profiles?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      readonly defaults?: Stored['defaults'];
    };
    const { keys = {} } = read('credentials') as {
      readonly keys?: Readonly<Record<string, { readonly api_key: string }>>;
    };
    return {
      profiles: mapped(profiles, ({ kind, app_code, email }) => accountOf(kind, app_code ?? email)),
      defaults,
      keys: mapped(keys, ({ api_key }) => api_key),
    };
  } catch {
    return undefined;
  }
}

/** What no rule allows. */
export function judgeSignIn({ runs, stored, healed, computer }: SignInEnded): string[] {
  const wrongs = [...runs, ...healed].flatMap(wrongsOfRun);
  if (!stored) wrongs.push('a file is not whole');
  else if (!canBe(stored, nothing, runs))
    wrongs.push(`no order of the runs leads to what is stored: ${JSON.stringify(stored)}`);
  for (const run of healed)
    if (run.exit !== 0) wrongs.push(`"${run.line}" says ${run.exit} after the faults: ${run.stderr}`);
  const last = storedOn(computer);
  if (stored && !(last && canBe(last, stored, healed)))
    wrongs.push(`the runs after the faults lead from ${JSON.stringify(stored)} to ${JSON.stringify(last)}`);
  return [...wrongs, ...wrongsOfFiles(computer)];
}

function wrongsOfRun(run: Process): string[] {
  const name = `"${run.line}"`;
  if (run.isAlive) return [`${name} hangs`];
  if (run.exit === 1) return [`${name} is exit 1: ${run.stderr}`];
  const waited = (run.ended ?? 0) - run.started;
  return waited > deadline + 1000 ? [`${name} waited ${waited / 1000} s`] : [];
}

/** Nobody else can read a file of the folder, and no draft of the two is left: it may hold a key. */
function wrongsOfFiles({ disk }: Computer): string[] {
  const found = disk.has('/home/ada/.config') && disk.find(folder);
  if (!(found instanceof Folder)) return [];
  return [...found.entries].flatMap(([name, { mode }]) => [
    ...((mode & 0o077) === 0 ? [] : [`${name} has the mode ${mode.toString(8)}`]),
    ...(/^(config|credentials)\.json$|^config\.lock\./.test(name) ? [] : [`${name} is left`]),
  ]);
}

/**
 * Whether the runs, one after the other, lead from one to the other: each in its time, a run that said 0 with all that
 * it does, any other with the beginning of that.
 */
function canBe(wanted: Stored, from: Stored, runs: readonly Process[]): boolean {
  if (runs.length === 0) return textOf(from) === textOf(wanted);
  const canBeNext = (run: Process): boolean => !runs.some((other) => other !== run && isOver(other, run));
  return runs.filter(canBeNext).some((run) =>
    effectsOf(run, from).some((next) =>
      canBe(
        wanted,
        next,
        runs.filter((other) => other !== run),
      ),
    ),
  );
}

/** Two that a power cut ended as they began are in no order. */
function isOver(run: Process, later: Process): boolean {
  return (run.ended ?? Infinity) <= later.started && (later.ended ?? Infinity) > run.started;
}

/** All that a run can have made of what was stored; none where what it said cannot be. */
function effectsOf(run: Process, from: Stored): readonly Stored[] {
  const [, verb = '', word = ''] = run.line.split(' ');
  const isDone = run.exit === 0;
  // What it saw of a run that ended early, a power cut could take later.
  const isKept = (run.ended ?? Infinity) > run.computer.bootedAt;
  if (verb === 'list') return isDone && isKept && !isListed(run, from) ? [] : [from];
  if (verb === 'login') {
    const steps = loginSteps(run.line, from);
    return isDone ? steps.slice(-1) : [from, ...steps];
  }
  if (word === '--all') {
    const all = Object.keys(from.profiles);
    const said = rowsOf(run).map(({ profile }) => profile);
    const steps = logoutSteps(all, from);
    if (!isDone) return [from, ...steps];
    // A closed output did not take what it forgot.
    return run.fate.stdout || String(said.sort()) === String(all.sort()) ? steps.slice(-1) : [];
  }
  const kind = from.profiles[word]?.split(' ')[0];
  if (kind === undefined) return isDone ? [] : [from];
  // A command that says that there is no such profile is right.
  if (run.exit === 3 && run.stderr.includes('there is no profile')) return [];
  const steps =
    verb === 'use' ? [{ ...from, defaults: { ...from.defaults, [kind]: word } }] : logoutSteps([word], from);
  return isDone ? steps.slice(-1) : [from, ...steps];
}

/** The key goes first. */
function loginSteps(line: string, from: Stored): readonly Stored[] {
  const option = (name: string): string => new RegExp(` --${name} (\\S+)`).exec(line)?.[1] ?? '';
  const kind = line.includes('login chat') ? 'chat' : 'licensing';
  const name = option('name');
  const file = option('api-key-file').replace('/home/ada/', '');
  const key = file === 'key-of-4711' ? 'sandbox-key-of-app-4711' : file.replace('key-', 'key-number-');
  const withKey = { ...from, keys: { ...from.keys, [name]: key } };
  const isFirst = Object.entries(from.profiles).every(([other, its]) => other === name || !its.startsWith(kind));
  const kept = Object.entries(from.defaults).filter(([its, chosen]) => its === kind || chosen !== name);
  return [
    withKey,
    {
      ...withKey,
      profiles: { ...from.profiles, [name]: accountOf(kind, option(kind === 'chat' ? 'email' : 'app-code')) },
      defaults: { ...Object.fromEntries(kept), ...(isFirst ? { [kind]: name } : {}) },
    },
  ];
}

function logoutSteps(names: readonly string[], from: Stored): readonly Stored[] {
  const without = <T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  const withoutKeys = { ...from, keys: without(from.keys) };
  const defaults = Object.entries(from.defaults).filter(([, name]) => !names.includes(name));
  return [withoutKeys, { ...withoutKeys, profiles: without(from.profiles), defaults: Object.fromEntries(defaults) }];
}

function isListed(run: Process, { profiles }: Stored): boolean {
  const listed = rowsOf(run).map(
    ({ profile, kind, app_code, email }) => [profile, accountOf(kind, app_code ?? email)] as const,
  );
  return textOf({ ...nothing, profiles }) === textOf({ ...nothing, profiles: Object.fromEntries(listed) });
}

function rowsOf({ stdout }: Process) {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map(
    (line) =>
      JSON.parse(line) as Readonly<Record<'kind' | 'app_code' | 'email', unknown>> & { readonly profile: string },
  );
}

function accountOf(kind: unknown, account: unknown): string {
  return `${String(kind)} ${String(account)}`;
}

function textOf({ profiles, defaults, keys }: Stored): string {
  return JSON.stringify([profiles, defaults, keys].map((values) => Object.entries(values).sort()));
}

function mapped<T>(values: Readonly<Record<string, T>>, change: (value: T) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
