import { fileReplies, type FilesPlan } from './attached-files.ts';
import { chanceOf, type Chance } from './chance.ts';
import type { ChatPlan } from './chat-history.ts';
import { deedsOf, atRead, everyKill, mishapsOf, playArchive, pullLine, sizesOf } from './chat-worlds.ts';
import { fateOf, type SimulatedWorld } from './worlds.ts';

const selection = '--channel general';

/** Attached files that are refused, late, cut, or not there, and that vanish, come back and change. */
export const files: SimulatedWorld<ChatPlan> = {
  about: 'archive pull --files: attached files that fail, are cut, change, vanish and come back; killed and run again',
  share: 20,
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = {
      kill: chance.happens(0.6),
      disk: chance.happens(0.15),
      server: chance.happens(0.2),
      people: chance.happens(0.5),
    };
    const messages = 1 + chance.below(chance.pick([6, 20]));
    const line = pullLine(selection, chance.pick(['--both', '--raw-content', '']));
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => {
      const form = chance.happens(0.3) ? ' --recheck' : '';
      const isKeeping = index > 0 || chance.happens(0.85);
      return {
        line: `${line}${form}${isKeeping ? ' --files' : ''}`,
        ...(index > 0 && chance.happens(0.9) ? { after: index - 1 } : {}),
        pause: chance.pick([0, 0, 20, 1000, 70_000]),
        fate: fateOf(chance, isOn, 140),
      };
    });
    const sizes = {
      ...(chance.happens(0.5) ? sizesOf(chance, messages) : {}),
      ...(chance.happens(0.2) ? { file: 100 } : {}),
    };
    return {
      ...{ seed, runs, messages, files: filesOf(chance), sizes },
      mishaps: isOn.server ? mishapsOf(chance).map((mishap) => ({ ...mishap, call: 'read' as const })) : [],
      people: isOn.people ? deedsOf(chance).map(atRead) : [],
    };
  },
  whole: (isNight, every) => everyKill(smallPulls(), files.play, isNight, every),
  play: playArchive,
};

function filesOf(chance: Chance): FilesPlan {
  const on = (): { readonly call: 'address' | 'content'; readonly nth: number } => ({
    call: chance.pick(['address', 'content', 'content']),
    nth: 1 + chance.below(chance.pick([4, 12])),
  });
  const mishaps = Array.from({ length: chance.pick([0, 1, 1, 2, 4]) }, () => ({
    ...on(),
    reply: chance.pick(fileReplies),
  }));
  const deeds = Array.from({ length: chance.pick([0, 0, 1, 2]) }, () => ({
    ...{ does: chance.pick(['vanish', 'vanish', 'return', 'change'] as const), file: chance.below(6), on: on() },
  }));
  return { count: 1 + chance.below(6), mishaps, deeds };
}

/** A pull of two files, and the same again: each reply to one of its requests, each thing that happens to a file. */
function smallPulls(): ChatPlan[] {
  const line = `${pullLine(selection, '--raw-content')} --files`;
  const plain = { seed: 1, messages: 2, runs: [{ line }, { line, after: 0 }] };
  const places = (['address', 'content'] as const).flatMap((call) => [1, 2].map((nth) => ({ call, nth })));
  const mishaps = places.flatMap((place) => fileReplies.map((reply) => ({ mishaps: [{ ...place, reply }] })));
  const deeds = places.flatMap((on) =>
    (['vanish', 'change'] as const).map((does) => ({ deeds: [{ does, file: 0, on }] })),
  );
  return [{}, ...mishaps, ...deeds].map((one) => ({ ...plain, files: { count: 2, ...one } }));
}
