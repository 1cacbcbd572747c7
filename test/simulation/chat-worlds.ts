import { chanceOf, type Chance } from './chance.ts';
import { judgeChat } from './chat-judges.ts';
import { judgeArchive } from './archive-judges.ts';
import {
  archiveFolder,
  holdingLine,
  lostId,
  otherName,
  playChat,
  purgeLine,
  type ChatPlan,
  type Hold,
} from './chat-history.ts';
import {
  channelId,
  chatReplies,
  deedNames,
  otherId,
  topic,
  type ChatMishap,
  type ChatReplyName,
  type Deed,
} from './chat-server.ts';
import type { Sizes } from './sizes.ts';
import type { Fate } from './computer.ts';
import type { Verdict } from './licensing-history.ts';
import { fateOf, type SimulatedWorld } from './worlds.ts';

export const purge: SimulatedWorld<ChatPlan> = {
  about: 'topic delete: up to 60 messages, several calls, killed and run again, while people post, edit, move and hide',
  share: 500,
  alone: [3, 5, 7, 9, 11, 15],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 3) return { seed, ...growing(chance) };
    if (seed % 16 === 5) return { seed, ...robbed(chance) };
    if (seed % 16 === 7) return { seed, ...unanswered(chance) };
    if (seed % 16 === 9) return { seed, ...overtaken(chance) };
    if (seed % 16 === 11) return { seed, ...crossed(chance) };
    if (seed % 16 === 15) return { seed, ...held(chance) };
    const isOn = {
      kill: chance.happens(0.6),
      server: chance.happens(0.6),
      disk: chance.happens(0.15),
      people: chance.happens(0.6),
    };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: purgeLine,
      ...(index > 0 && chance.happens(0.8) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000]),
      fate: nearCall(chance, fateOf(chance, isOn, 220)),
    }));
    const messages = messagesOf(chance);
    const mishaps = !isOn.server ? [] : chance.happens(0.1) ? stuck(chance) : mishapsOf(chance);
    const crossing = isOn.people && chance.happens(0.25) ? crossingOf(chance) : undefined;
    return {
      ...{ seed, runs, messages, level: chance.pick([489, 489, 372, 256, 200, 150]) },
      mishaps: [...(crossing?.mishaps ?? []), ...mishaps, ...(chance.happens(0.1) ? [staying(chance)] : [])],
      people: [...(crossing?.people ?? []), ...(isOn.people ? deedsOf(chance) : [])],
      ...(chance.happens(0.6) ? { sizes: sizesOf(chance, messages), batches: chance.pick([1, 1, 1000, 1000]) } : {}),
      ...(chance.happens(0.1) ? { take: taking(chance) } : {}),
      ...beside(chance),
    };
  },
  whole: (isNight, every) => everyKill(smallPurges(), purge.play, isNight, every),
  play: (plan, trace) => playChat(plan, judgeChat, { trace }),
};

/**
 * A purge of two calls, and the same again: each answer to one of them, each moment at which it is carried out, and
 * each thing that people do at each moment.
 */
function smallPurges(): ChatPlan[] {
  const runs = [{ line: purgeLine }, { line: purgeLine, after: 0 }];
  const sizes = { page: 2, look: 2, batch: 2, newest: 2 };
  const plain = { seed: 1, messages: 3, level: 489, batches: 1, sizes, runs };
  const mishaps = [1, 2].flatMap((nth) =>
    deleteReplies.flatMap(([reply, ...commits]) =>
      commits.map((commit) => [
        { call: 'delete', nth, reply, ...(commit === undefined ? {} : { commit }) } satisfies ChatMishap,
      ]),
    ),
  );
  const moments = [
    ...[1, 2, 3].map((nth) => ({ at: 0, on: { call: 'look', nth } as const })),
    ...[1, 2].flatMap((nth) => [0, 1, 3000].map((at) => ({ at, on: { call: 'delete', nth } as const }))),
  ];
  const movements = deedNames.flatMap((does) => moments.map((moment) => [{ does, nth: 1, ...moment }]));
  return [[], ...mishaps].flatMap((mishaps) => [[], ...movements].map((people) => ({ ...plain, mishaps, people })));
}

/**
 * Replies to a delete call, each with the moments of its being carried out. What is refused (429) is not carried out; a
 * call that says too much does nothing.
 */
const deleteReplies: readonly (readonly [reply: ChatReplyName, ...commits: (number | undefined)[]])[] = [
  ...(['dropped', '500', '502', '504', 'nothing', 'cut'] as const).map((reply) => [reply, undefined, 0, 2000] as const),
  ...[['made', 2000] as const, ['429', undefined] as const, ['whole', undefined] as const],
];

/** A pull of two pages, and a recheck: each thing that people do at each of its requests. */
function smallPulls(): ChatPlan[] {
  const line = pullLine('--channel general', '--both');
  const runs = [{ line }, { line: `${line} --recheck`, after: 0 }];
  const plain = { seed: 1, messages: 3, sizes: { page: 2 }, runs };
  const moments = Array.from({ length: 10 }, (_, index) => ({ at: 0, on: { call: 'read', nth: index + 1 } as const }));
  return deedNames.flatMap((does) => moments.map((moment) => ({ ...plain, people: [{ does, nth: 1, ...moment }] })));
}

/**
 * Each plan with a kill, or a power cut, before each call of its first run; at night with another one of the second run
 * at each of its calls. `every`: each so manyth alone, spread over plans and calls.
 */
export async function* everyKill(
  plans: readonly ChatPlan[],
  play: (plan: ChatPlan) => Promise<Verdict>,
  isNight: boolean,
  every = 1,
): AsyncGenerator<ChatPlan> {
  const planStep = Math.ceil(Math.sqrt(every));
  const killStep = Math.round(every / planStep);
  let number = 0;
  for (let index = 0; index < plans.length; index += planStep) {
    const plan = plans[index];
    const [first, second] = plan?.runs ?? [];
    if (!plan || !first || !second) continue;
    const { calls } = await play(plan);
    const seconds = isNight ? Array.from({ length: calls[1] ?? 0 }, (_, at) => at + 1) : [undefined];
    for (let at = 1; at <= (calls[0] ?? 0); at += 1)
      for (const how of ['kill', 'power'] as const)
        for (const next of seconds) {
          number += 1;
          if (number % killStep > 0) continue;
          const later = next === undefined ? second : { ...second, fate: { kill: { at: next, how } } };
          yield { ...plan, runs: [{ ...first, fate: { kill: { at, how } } }, later] };
        }
  }
}

/** Each call takes more than the one before it, and an old message is edited meanwhile. */
function growing(chance: Chance): Omit<ChatPlan, 'seed'> {
  const messages = 20 + chance.below(30);
  const calls = chance.pick([[1], [1, 4 + chance.below(4)]]).map((batches, index) => {
    const reply = chance.pick(['made', 'made', '502', '504'] as const);
    return { call: 'delete' as const, nth: index + 1, reply, commit: 0, batches };
  });
  const people = Array.from({ length: 1 + chance.below(3) }, (): Deed => {
    const on = { call: 'delete' as const, nth: 1 + chance.below(2) };
    return { does: 'edit', nth: chance.below(messages >> 2), at: chance.below(40), on };
  });
  const sizes = { look: 2 + chance.below(2), batch: chance.pick([1, 1, 2]), newest: 1 };
  return { messages, runs: [{ line: purgeLine }], mishaps: calls, people, sizes, batches: 1000 };
}

/** A run that is killed between its call and the record of the answer, and the next one. */
function unanswered(chance: Chance): Omit<ChatPlan, 'seed'> {
  const isOther = chance.happens(0.6);
  if (isOther) return chance.pick([brokenOff, cameAfter])(chance);
  const kill = { at: 1 + chance.below(4), since: 'POST', how: 'kill' as const };
  const reply = chance.pick(['made', 'dropped', '502'] as const);
  return {
    messages: messagesOf(chance),
    runs: [
      { line: purgeLine, fate: { kill } },
      { line: purgeLine, after: 0, pause: 1000 },
    ],
    mishaps: [{ call: 'delete', nth: 1, reply, commit: chance.pick([0, 700]) }],
  };
}

/** A run ends between the look after a call and its next call, and somebody removes a message before the next look. */
function brokenOff(chance: Chance): Omit<ChatPlan, 'seed'> {
  const messages = 4 + chance.below(6);
  const kill = { at: 5 + chance.below(12), since: 'POST', how: 'kill' as const };
  return {
    ...{ messages, level: chance.pick([489, 200]), batches: 1, sizes: { batch: 1 } },
    runs: [
      { line: purgeLine, fate: { kill } },
      { line: purgeLine, pause: 2000 },
    ],
    people: [{ does: 'remove', nth: messages - 1 - chance.below(3), at: 1000 + chance.below(1200) }],
  };
}

/** A run is killed once its call was answered; a message comes, and leaves again after the survey of the next run. */
function cameAfter(chance: Chance): Omit<ChatPlan, 'seed'> {
  const kill = { at: 3 + chance.below(2), since: 'POST', how: 'kill' as const };
  return {
    messages: 1 + chance.below(4),
    runs: [
      { line: purgeLine, fate: { kill } },
      { line: purgeLine, after: 0, pause: 1000 },
    ],
    people: [
      { does: 'post', nth: 0, at: chance.below(60), on: { call: 'delete', nth: 1 } },
      { does: 'hide-all', nth: 0, at: chance.below(60), on: { call: 'read', nth: 8 + chance.below(2) } },
    ],
  };
}

/** Somebody else writes to the messages: a call ends with 500, and the next one says that it is done. */
function crossed(chance: Chance): Omit<ChatPlan, 'seed'> {
  const does = chance.pick(['hide-all', 'hide', 'remove'] as const);
  const mishaps = (['500', 'whole'] as const).map((reply, index) => ({
    call: 'delete' as const,
    nth: index + 1,
    reply,
  }));
  const people = [{ does, nth: chance.below(12), at: chance.below(20), on: { call: 'delete' as const, nth: 2 } }];
  return { messages: 1 + chance.below(12), runs: [{ line: purgeLine }], mishaps, people };
}

/** A call, or a page of its look, waits for a rate limit while people write; or the plan begins to hide messages. */
function overtaken(chance: Chance): Omit<ChatPlan, 'seed'> {
  const messages = 1 + chance.below(20);
  const plain = { messages, runs: [{ line: purgeLine }], sizes: sizesOf(chance, messages) };
  const call = chance.pick(['delete', 'read'] as const);
  const on = { call, nth: 1 + chance.below(call === 'read' ? 12 : 2) };
  if (chance.happens(0.5)) return { ...plain, people: [{ does: 'limit', nth: chance.below(messages), at: 0, on }] };
  const people = Array.from({ length: 3 }, (): Deed => {
    const does = chance.pick(['post', 'edit', 'react'] as const);
    return { does, nth: chance.below(messages), at: chance.below(4000), on };
  });
  return { ...plain, people, mishaps: [{ ...on, reply: '429' }], batches: chance.pick([1, 1000]) };
}

/** Holds by name or by messages, some of which people move out of the topic, and back into it. */
function held(chance: Chance): Omit<ChatPlan, 'seed'> {
  const messages = messagesOf(chance);
  const nths = Array.from({ length: 1 + chance.below(3) }, () => chance.below(messages));
  const by = chance.pick(['messages', 'messages', 'messages', 'messages', 'name', 'other', 'lost'] as const);
  const holds: Readonly<Record<typeof by, Hold>> = {
    messages: { nths },
    name: { topic_name: chance.pick([topic, topic.toUpperCase(), `✔ ${topic}`]) },
    other: { topic_name: otherName },
    lost: { ids: [lostId] },
  };
  const isAway = chance.happens(0.8);
  const away = isAway ? nths.map((nth): Deed => ({ does: 'move', nth, at: 0 })) : [];
  const back = nths.map((nth): Deed => {
    const call = chance.pick(['look', 'look', 'since', 'delete', 'read'] as const);
    return { does: 'back', nth, at: chance.below(40), on: { call, nth: 1 + chance.below(call === 'read' ? 12 : 3) } };
  });
  const isKilled = chance.happens(0.3);
  const runs = Array.from({ length: 1 + chance.below(2) }, (_, index) => ({
    line: holdingLine,
    ...(index > 0 ? { after: index - 1 } : {}),
    // After people have moved what is held.
    pause: 20,
    fate: nearCall(chance, fateOf(chance, { kill: isKilled, disk: false }, 220)),
  }));
  const isQuiet = by === 'name' && chance.happens(0.5);
  const people = isQuiet ? [] : [...away, ...back, ...(chance.happens(0.4) ? deedsOf(chance) : [])];
  const mishaps = chance.happens(0.3) ? mishapsOf(chance) : [];
  const isSmall = chance.happens(0.6);
  const sizes = isSmall ? { sizes: sizesOf(chance, messages), batches: chance.pick([1, 1, 1000]) } : {};
  return { messages, runs, people, mishaps, keep: [holds[by]], ...sizes };
}

/** What else there is: messages of another topic, an hour's budget that ends. */
function beside(chance: Chance): Pick<ChatPlan, 'elsewhere' | 'perHour'> {
  return {
    ...(chance.happens(0.4) ? { elsewhere: 1 + chance.below(4) } : {}),
    ...(chance.happens(0.1) ? { perHour: 5 + chance.below(60) } : {}),
  };
}

/** Many kills are about a call to delete: the first one of the run, or what follows it. */
export function nearCall(chance: Chance, fate: Fate): Fate {
  return fate.kill && chance.happens(0.5) ? { kill: { ...fate.kill, at: chance.below(12), since: 'POST' } } : fate;
}

export function mishapsOf(chance: Chance): ChatMishap[] {
  return Array.from({ length: 1 + chance.below(3) }, () => {
    const call = chance.pick(['delete', 'delete', 'read', 'look'] as const);
    const commit = chance.pick([undefined, 0, 0, 700, 3000]);
    const reply = chance.pick(chatReplies);
    // What is refused is not carried out.
    const isCarriedOut = commit !== undefined && reply !== '429';
    return { call, nth: 1 + chance.below(call === 'read' ? 12 : 3), reply, ...(isCarriedOut ? { commit } : {}) };
  });
}

/** Somebody works on the whole topic while calls to delete fail, wait, or are carried out. */
function crossingOf(chance: Chance): { readonly mishaps: ChatMishap[]; readonly people: Deed[] } {
  const nth = 1 + chance.below(2);
  const mishaps = Array.from({ length: nth }, (_, index) => ({
    ...{ call: 'delete' as const, nth: index + 1, reply: chance.pick(['500', '502', 'dropped', 'made'] as const) },
    ...(chance.happens(0.3) ? { commit: 0, batches: 1 } : {}),
  }));
  const does = chance.pick(['hide-all', 'hide-all', 'rename', 'hide', 'edit', 'edit'] as const);
  const people = [{ does, nth: chance.below(60), at: chance.below(40), on: { call: 'delete' as const, nth } }];
  const last = { call: 'delete' as const, nth, reply: chance.pick(['whole', '500', 'dropped'] as const) };
  return { mishaps: [...mishaps.slice(0, -1), last], people };
}

/** The archives of a purge are moved away while a call waits to be sent again, and another run puts its own there. */
function robbed(chance: Chance): Omit<ChatPlan, 'seed'> {
  const mishaps = [1, 2, 3].map((nth) => ({
    call: 'delete' as const,
    nth,
    reply: chance.pick(['500', '500', 'made'] as const),
  }));
  const people = Array.from({ length: 1 + chance.below(4) }, () => ({
    ...{ does: chance.pick(['post', 'post', 'edit'] as const), nth: chance.below(12), at: chance.below(5000) },
  }));
  const take = { at: chance.below(40), on: { call: 'delete', nth: 1 } } as const;
  const runs = [{ line: purgeLine }, { line: purgeLine, pause: 300 + chance.below(3000) }];
  return { messages: 3 + chance.below(12), sizes: { batch: 1 }, batches: 1, runs, mishaps, people, take };
}

/** At a request of a purge somebody moves the folder of its archives away. */
function taking(chance: Chance): NonNullable<ChatPlan['take']> {
  return { at: chance.below(40), on: { call: chance.pick(['look', 'delete'] as const), nth: 1 + chance.below(3) } };
}

/** What a slow server, or a proxy in front of it, goes on doing. */
function staying(chance: Chance): ChatMishap {
  return chance.happens(0.5)
    ? { call: 'read', nth: 2 + chance.below(3), reply: chance.pick(['502', '429', 'dropped'] as const), stays: true }
    : { call: 'delete', nth: 2, reply: chance.pick(['500', '504', 'dropped'] as const), commit: 0, stays: true };
}

/** Half of the topics are small: many histories of them, each soon at its calls. */
function messagesOf(chance: Chance): number {
  return 1 + chance.below(chance.pick([12, 60]));
}

/** A server that deletes nothing. */
function stuck(chance: Chance): ChatMishap[] {
  const reply = chance.pick(['whole', '500', '502'] as const);
  return Array.from({ length: 20 }, (_, index) => ({ call: 'delete', nth: index + 1, reply }));
}

/** Half of them right at a request, so that they fall between two. */
export function deedsOf(chance: Chance): Deed[] {
  return Array.from({ length: 1 + chance.below(4) }, () => {
    const does = chance.pick(deedNames);
    const deed = { does, nth: chance.below(60), ...(/^(move|newer)$/.test(does) ? goingOf(chance) : {}) };
    if (chance.happens(0.5)) return { ...deed, at: chance.below(3000) };
    const call = chance.pick(['read', 'look', 'since', 'delete'] as const);
    return { ...deed, at: chance.below(60), on: { call, nth: 1 + chance.below(call === 'read' ? 12 : 3) } };
  });
}

/** How much of the topic goes, and where: another topic, new or not, resolved, without a name, of another channel. */
function goingOf(chance: Chance): Pick<Deed, 'which' | 'to'> {
  const which = chance.pick([undefined, undefined, 'all', 'older', 'newer'] as const);
  const subject = chance.pick(['elsewhere', 'renamed', `✔ ${topic}`, topic.toUpperCase(), '', undefined]);
  const isFar = subject === undefined || chance.happens(0.2);
  const to = { ...(subject === undefined ? {} : { subject }), stream_id: isFar ? otherId : channelId };
  return which === undefined ? { to } : { which, to };
}

/** Up to six pages, of which a look reads a few. */
export function sizesOf(chance: Chance, messages: number): Omit<Sizes, 'file'> {
  const page = 2 + Math.ceil(messages / chance.pick([2, 4, 6]));
  const newest = chance.pick([1, page]);
  return { page, look: page, batch: chance.pick([1, 3, page]), newest, window: chance.pick([1, 5, 1000]) };
}

const selections = ['general', 'id:1'].flatMap((name) => [`--channel ${name}`, `--channel ${name} --topic ${topic}`]);
const forms = ['--both', '--both', '--raw-content', ''];

export const archive: SimulatedWorld<ChatPlan> = {
  about: 'archive pull, and --recheck: killed and run again, while people post, edit, move, hide, rename and remove',
  share: 500,
  alone: [7, 9],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 7) return { seed, ...unsynced(chance) };
    if (seed % 16 === 9) return { seed, ...movedInPage(chance) };
    const isOn = {
      kill: chance.happens(0.6),
      server: chance.happens(0.5),
      disk: chance.happens(0.15),
      people: chance.happens(0.8),
    };
    const messages = messagesOf(chance);
    const line = pullLine(chance.pick(selections), chance.pick(forms));
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: chance.happens(index === 0 ? 0.1 : 0.6) ? `${line} --recheck` : line,
      ...(index > 0 && chance.happens(0.9) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000]),
      fate: fateOf(chance, isOn, 90),
    }));
    return {
      ...{ seed, runs, messages, level: chance.pick([489, 489, 372, 256, 200, 150]) },
      mishaps: isOn.server ? mishapsOf(chance).map((mishap) => ({ ...mishap, call: 'read' as const })) : [],
      people: isOn.people ? deedsOf(chance).map(atRead) : [],
      ...(chance.happens(0.6) ? { sizes: sizesOf(chance, messages) } : {}),
      ...beside(chance),
    };
  },
  whole: (isNight, every) => everyKill(smallPulls(), archive.play, isNight, every),
  play: (plan, trace) => playArchive(plan, trace),
};

/** What a run wrote is not synced, and the power is cut in the next one. */
function unsynced(chance: Chance): Omit<ChatPlan, 'seed'> {
  const line = pullLine(chance.pick(selections), '--both');
  const disk = { at: 60 + chance.below(80), of: 'sync', path: 'parts.ndjson', code: 'EIO' } as const;
  const kill = { at: 15 + chance.below(40), how: 'power', loss: 'all' } as const;
  const messages = messagesOf(chance);
  return {
    ...{ messages, sizes: sizesOf(chance, messages) },
    runs: [
      { line, fate: { disk } },
      { line: chance.happens(0.7) ? `${line} --recheck` : line, after: 0, fate: { kill } },
    ],
  };
}

/** Messages move while a page of them is made. */
function movedInPage(chance: Chance): Omit<ChatPlan, 'seed'> {
  const messages = messagesOf(chance);
  const on = { call: 'read', nth: chance.below(12) } as const;
  return {
    ...{ messages, sizes: sizesOf(chance, messages), level: chance.pick([489, 372, 200]) },
    people: [{ does: 'newer', nth: chance.below(60), ...goingOf(chance), at: chance.below(60), on }],
    runs: [{ line: pullLine(chance.pick(selections), chance.pick(forms)) }],
  };
}

export function pullLine(selection: string, form: string): string {
  return `archive pull ${archiveFolder} ${selection} ${form} -o ndjson`.replaceAll(/ +/g, ' ');
}

export function playArchive(plan: ChatPlan, trace?: (line: string) => void): Promise<Verdict> {
  const last = [...new Set(plan.runs.map(({ line }) => line))].at(-1);
  const rechecks = last?.includes('--recheck') ? [last] : [];
  return playChat(plan, judgeArchive, { trace, last: [...rechecks, `archive verify ${archiveFolder} -o ndjson`] });
}

/** There are no calls to delete. */
export function atRead({ on, ...deed }: Deed): Deed {
  return on ? { ...deed, on: { ...on, call: 'read' } } : deed;
}
