import { chanceOf } from './chance.ts';
import { archiveFolder, closing, playChat, type ChatEnded, type ChatPlan } from './chat-history.ts';
import { archived, endOf, leftFiles, shownOf } from './chat-judges.ts';
import { everyKill, mishapsOf, nearCall, sizesOf } from './chat-worlds.ts';
import type { Process } from './computer.ts';
import type { Verdict } from './licensing-history.ts';
import { fateOf, type SimulatedWorld } from './worlds.ts';

const topics = ['plans', 'elsewhere'];
const line = `topic delete id:1 ${topics.join(' ')} --confirm 2 --archive ${archiveFolder} -o ndjson`;

/** Purges of two topics by one command, which goes on with the second one where the first one has ended. */
export const purges: SimulatedWorld<ChatPlan> = {
  about: 'topic delete of two topics: up to three runs, killed and run again',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.8), server: chance.happens(0.4), disk: chance.happens(0.15) };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line,
      ...(index > 0 && chance.happens(0.9) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000]),
      fate: nearCall(chance, fateOf(chance, isOn, 300)),
    }));
    const messages = 1 + chance.below(20);
    return {
      ...{ seed, runs, messages, elsewhere: 1 + chance.below(20), level: chance.pick([489, 372, 150]) },
      mishaps: isOn.server ? mishapsOf(chance) : [],
      ...(chance.happens(0.5) ? { sizes: sizesOf(chance, messages), batches: chance.pick([1, 1000]) } : {}),
    };
  },
  whole: (isNight, every) =>
    everyKill(
      [{ seed: 1, messages: 2, elsewhere: 2, level: 489, runs: [{ line }, { line, after: 0 }] }],
      purges.play,
      isNight,
      every,
    ),
  play: (plan, trace) => playChat(plan, judgePurges, { trace }),
};

interface Row {
  readonly topic_name: string;
  readonly status: string;
  readonly deleted: number;
}

/** Nobody else acts: all that is deleted is archived, and a run that ends well tells of what no earlier run ended. */
function judgePurges(ended: ChatEnded): Pick<Verdict, 'wrongs' | 'limits'> {
  const texts = archived(ended);
  const { server, runs, healed } = ended;
  const lost = server.deletions.filter(({ message }) => !texts.get(message.id)?.has(shownOf(message)));
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)];
  const last = healed.at(-1)?.[1].at(-1);
  const isDone = last?.exit === 0 || last?.exit === 5;
  const wrongs = [
    ...lost.map(({ message }) => `message ${message.id} is deleted, and it is not archived`),
    ...all.flatMap((run, index) => wrongsOfRun(run, `run ${index + 1}`, ended)),
    ...(isDone ? [] : [`the last run without faults says ${last?.exit ?? 'nothing'}: ${last?.stderr ?? ''}`]),
    ...leftFiles(ended),
  ];
  return { wrongs, limits: last?.line.includes(closing) ? ['closed by --missing-ok'] : [] };
}

function wrongsOfRun(run: Process, name: string, { server, plan }: ChatEnded): string[] {
  const wrongs = endOf(run, name);
  const goneBy = (moment: number): number => server.deletions.filter(({ at }) => at <= moment).length;
  const most = plan.messages + (plan.elsewhere ?? 0);
  // Another run may have ended them since this one began.
  if (run.exit === 5 && goneBy(run.ended ?? Infinity) < most)
    wrongs.push(`${name} finds no topic, and messages are left: ${run.stderr}`);
  if (run.exit !== 0) return wrongs;
  const rows = run.stdout
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Row);
  if (goneBy(run.ended ?? 0) < most) wrongs.push(`${name} is exit 0, and messages are left`);
  const sizes: Readonly<Record<string, number>> = { plans: plan.messages, elsewhere: plan.elsewhere ?? 0 };
  const told = rows.every(({ topic_name: topic, status, deleted }) =>
    status === 'deleted' ? deleted === sizes[topic] : status === 'missing' && deleted === 0,
  );
  const isPrinted = run.fate.stdout === undefined && !run.line.includes(closing);
  if (isPrinted && (!told || rows.length !== 2))
    wrongs.push(`${name} is exit 0, and tells of ${most} messages: ${run.stdout}`);
  return wrongs;
}
