import type { MessageRecord } from '../../src/sandbox/records.ts';
import { archiveFolder, closingLine, purgeLine, type ChatEnded } from './chat-history.ts';
import { channelId, topic } from './chat-server.ts';
import type { Process } from './computer.ts';
import { deadline, type Verdict } from './licensing-history.ts';

/** A delete call in progress is waited for by Ctrl-C, and its time limit is the longest there is. */
const grace = 130_000;

/** How long after an answered call the look behind it can be. */
const around = 20_000;

/** What no rule allows, and the documented limits that the history met (docs/apis.md, Looks). */
export function judgeChat(ended: ChatEnded): Pick<Verdict, 'wrongs' | 'limits'> {
  const limits = new Set<string>();
  const wrongs = [
    ...unarchived(ended, limits),
    ...idles(ended),
    ...ended.runs.flatMap((run, index) => wrongsOfRun(run, `run ${index + 1}`, ended, limits)),
    ...ended.healed.flatMap(([line, runs]) => wrongsOfHealing(line, runs, ended, limits)),
  ];
  return { wrongs, limits: [...limits] };
}

/** The text of each archived message, as its last version has it, by id: parts that are listed, and changes. */
function archived({ computer: { disk } }: ChatEnded): ReadonlyMap<number, string> {
  const files = [...disk.files()].filter(([path]) => path.startsWith(`${archiveFolder}/`));
  const linesOf = (name: RegExp): unknown[] =>
    files
      .filter(([path]) => name.test(path))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([, content]) => content.toString().split('\n').slice(0, -1))
      .map((line): unknown => JSON.parse(line));
  const listed = new Set((linesOf(/\/parts\.ndjson$/) as { readonly ids: number[] }[]).flatMap(({ ids }) => ids));
  const texts = new Map<number, string>();
  for (const { id, content } of linesOf(/\/source-\d+\.ndjson$/) as { readonly id: number; readonly content: string }[])
    if (listed.has(id)) texts.set(id, content);
  for (const { id, message } of linesOf(/\/changes\.ndjson$/) as Change[])
    if (message && message.content_type !== 'text/html') texts.set(id, message.content);
  return texts;
}

interface Change {
  readonly id: number;
  readonly message?: { readonly content: string; readonly content_type: string };
}

/**
 * No message left the server by a request of ours that is not in the archive in its last version, but what came after
 * the look.
 */
function unarchived(ended: ChatEnded, limits: Set<string>): string[] {
  const texts = archived(ended);
  return ended.server.deletions.flatMap(({ message, changed, looked }) => {
    if (texts.get(message.id) === message.content) return [];
    if (changed >= looked) {
      limits.add('came or was edited after the look');
      return [];
    }
    const has = texts.has(message.id) ? 'an older version of it is archived' : 'it is not archived';
    return [`message ${message.id} is deleted, and ${has}`];
  });
}

interface Row {
  readonly status: string;
  readonly deleted: number;
}

function rowOf({ stdout }: Process): Row | undefined {
  const [line] = stdout.split('\n').slice(0, -1);
  return line === undefined ? undefined : (JSON.parse(line) as Row);
}

/** No run hangs, waits beyond its deadline, or has an error of the program. */
export function endOf(run: Process, name: string): string[] {
  if (run.isAlive) return [`${name} hangs`];
  const wrongs: string[] = [];
  if (run.exit === 1) wrongs.push(`${name} is exit 1: ${run.stderr}`);
  if (run.exit !== undefined && run.ended !== undefined && run.ended - run.started > deadline + grace)
    wrongs.push(`${name} waited ${(run.ended - run.started) / 1000} s, its --deadline is ${deadline / 1000} s`);
  return wrongs;
}

/** What a run said is true of the server at its end. */
function wrongsOfRun(run: Process, name: string, ended: ChatEnded, limits: Set<string>): string[] {
  const wrongs = endOf(run, name);
  if (run.exit === undefined) return wrongs;
  const row = run.line.startsWith('topic delete') ? rowOf(run) : undefined;
  if (!row) return wrongs;
  const { server } = ended;
  const byOthers = [...server.unseen].filter(
    ([id, at]) => server.answered.some(({ to }) => at <= to + around) && !wasPassed(id, at, server),
  );
  if (byOthers.length > 0) limits.add('left the sight of the account before a call was answered');
  if (row.deleted > server.deletions.length + byOthers.length)
    wrongs.push(`${name} says that ${row.deleted} are deleted, ${server.deletions.length} are`);
  if (row.status !== 'deleted' && row.status !== 'missing')
    return run.exit === 0 && !(row.status === 'unseen' && run.line.startsWith(closingLine))
      ? [...wrongs, `${name} is exit 0 with ${row.status}`]
      : wrongs;
  const gone = new Set([...server.deletions.map(({ message }) => message.id), ...byOthers.map(([id]) => id)]);
  const alive = server.first.filter((id) => !gone.has(id) && isInTopic(server.state.messages.get(id)));
  if (alive.length > 0)
    wrongs.push(`${name} says that the topic is deleted, and ${alive.length} of its messages are there`);
  return wrongs;
}

/** Whether the first look after a message left shows a newer one that was known: a call takes the newest first. */
function wasPassed(id: number, left: number, { steps }: ChatEnded['server']): boolean {
  const looks = steps.filter((step) => 'ids' in step);
  const after = looks.findIndex(({ at }) => at > left);
  const known = new Set(looks.slice(0, after).flatMap(({ ids }) => ids));
  return known.has(id) && (looks[after]?.ids.some((other) => other > id && known.has(other)) ?? false);
}

/** Calls in a row after which nothing is gone, in one run. */
const mostIdle = 6;

/** A run whose calls delete nothing gives up. */
function idles({ server, runs }: ChatEnded): string[] {
  return runs.flatMap((run, index) => {
    const calls = server.steps.filter((step) => step.client === run && 'deleted' in step);
    const last = calls.findLastIndex((step) => 'deleted' in step && step.deleted > 0);
    return calls.length - 1 - last > mostIdle
      ? [`run ${index + 1} sent ${calls.length - 1 - last} calls that deleted nothing`]
      : [];
  });
}

/** Once the faults end, the same command ends: all is deleted, or it names what somebody else did to the messages. */
function wrongsOfHealing(line: string, runs: readonly Process[], ended: ChatEnded, limits: Set<string>): string[] {
  const wrongs = runs.flatMap((run, index) =>
    wrongsOfRun(run, `run ${index + 1} of "${line}" after the faults`, ended, limits),
  );
  const last = runs.at(-1);
  const { plan } = ended;
  // Not an error of the purge: the topic has no messages left, and a killed run may not have said so.
  if (wrongs.length > 0 || last?.exit === 0 || last?.exit === 5) return wrongs;
  if (last?.exit === 8 && line === purgeLine && ended.healed.some(([other]) => other === closingLine)) {
    limits.add('closed by --missing-ok');
    return wrongs;
  }
  const does = new Set(plan.people?.map((deed) => deed.does));
  // What is elsewhere now is named, and deleted under that name; a pull tells what it could not see.
  const isElsewhere = does.has('move') || does.has('rename') || does.has('stale') || does.has('stale-back');
  if (last?.exit === 8 && (isElsewhere || !line.startsWith(purgeLine))) return wrongs;
  return [
    ...wrongs,
    `"${line}" still says ${last?.exit ?? 'nothing'} after ${runs.length} runs without faults: ${last?.stderr ?? ''}`,
  ];
}

function isInTopic(message: MessageRecord | undefined): boolean {
  return message?.subject === topic && message.stream_id === channelId;
}
