import { chanceOf, type Chance } from './chance.ts';
import { playChat, purgeLine, type ChatPlan } from './chat-history.ts';
import { chatReplies, type ChatMishap, type Deed } from './chat-server.ts';
import { fateOf, type SimulatedWorld } from './worlds.ts';

export const purge: SimulatedWorld<ChatPlan> = {
  about: 'topic delete: up to 60 messages, several calls, killed and run again, while people post, edit, move and hide',
  draw(seed) {
    const chance = chanceOf(seed);
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
      fate: fateOf(chance, isOn, 220),
    }));
    return {
      ...{ seed, runs, messages: 1 + chance.below(60), level: chance.pick([489, 489, 372, 256, 200, 150]) },
      mishaps: isOn.server ? mishapsOf(chance) : [],
      people: isOn.people ? deedsOf(chance) : [],
    };
  },
  async *whole(isNight) {
    const runs = [{ line: purgeLine }, { line: purgeLine, after: 0 }];
    for (const reply of chatReplies)
      for (const commit of [undefined, 0, 2000]) {
        const mishaps = [{ call: 'delete', nth: 1, reply, ...(commit === undefined ? {} : { commit }) } as const];
        const plain = { seed: 1, messages: 3, runs, mishaps };
        const { calls } = await playChat(plain);
        const seconds = isNight ? Array.from({ length: calls[1] ?? 0 }, (_, index) => index + 1) : [undefined];
        for (let at = 1; at <= (calls[0] ?? 0); at += 1)
          for (const how of ['kill', 'power'] as const)
            for (const second of seconds) {
              const next = second === undefined ? {} : { fate: { kill: { at: second, how } } };
              yield {
                ...plain,
                runs: [
                  { line: purgeLine, fate: { kill: { at, how } } },
                  { line: purgeLine, after: 0, ...next },
                ],
              };
            }
      }
  },
  play: playChat,
};

function mishapsOf(chance: Chance): ChatMishap[] {
  return Array.from({ length: 1 + chance.below(3) }, () => {
    const call = chance.pick(['delete', 'delete', 'read'] as const);
    const commit = chance.pick([undefined, 0, 0, 700, 3000]);
    const reply = chance.pick(chatReplies);
    // What is refused is not carried out.
    const isCarriedOut = commit !== undefined && reply !== '429';
    return { call, nth: 1 + chance.below(call === 'read' ? 12 : 3), reply, ...(isCarriedOut ? { commit } : {}) };
  });
}

function deedsOf(chance: Chance): Deed[] {
  const does = ['post', 'edit', 'move', 'stale', 'hide', 'back', 'rename', 'remove'] as const;
  return Array.from({ length: 1 + chance.below(4) }, () => ({
    ...{ at: chance.below(3000), does: chance.pick(does), nth: chance.below(60) },
  }));
}
