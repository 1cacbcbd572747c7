import { describe, expect, test } from 'vitest';
import {
  afterStep,
  countsOf,
  expecting,
  leftIn,
  lookStep,
  presentIn,
  statusOf,
  wentDeeper,
  withStandings,
  type Standing,
} from '../../../src/jobs/topic/standings.ts';
import type { CallEnd, PurgeStep } from '../../../src/store/archive/line-file.ts';
import { idsBetween } from '../../helpers/chat-server.ts';

const time = '2026-03-01T12:00:00.000Z';

/** A purge of these messages, 1 to 10 without any, whose first look has shown `seen`. */
function begun(ids = idsBetween(1, 10), seen = ids) {
  const run = {
    known: expecting(ids),
    steps: [] as PurgeStep[],
    step(step: PurgeStep): void {
      run.known = afterStep(run.known, step);
      run.steps.push(step);
    },
    look: (shown: readonly number[], from: number | null = null) => run.step(lookStep(run.known, time, from, shown)),
    call: (end: CallEnd) => run.step({ call: end }),
  };
  run.look(seen);
  return run;
}

/** The ids of each standing that has some. */
function groups(of: ReadonlyMap<number, Standing>): Partial<Record<Standing, number[]>> {
  const found: Partial<Record<Standing, number[]>> = {};
  for (const [id, standing] of [...of].sort(([one], [other]) => one - other)) (found[standing] ??= []).push(id);
  return found;
}

describe('a message counts as deleted only if a look before a call showed it, that call or one after its failure was answered, and no look finds it', () => {
  test('one call that ended whole', () => {
    const run = begun();
    const { look, call } = run;
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 10) });
    expect(statusOf(countsOf(run.known))).toBe('deleted');
  });

  test('what went between two looks without a call between them was deleted by somebody else', () => {
    const run = begun();
    const { look, call } = run;
    look(idsBetween(1, 9));
    call('asked');
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 9), goneOutOfOrder: [10] });
  });

  test('where the last call has no answer the server may go on with it', () => {
    const run = begun();
    const { look, call } = run;
    call('asked');
    call('failed');
    look(idsBetween(1, 9));
    look(idsBetween(1, 8));
    call('asked');
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 10) });
  });

  test('a call in part is an answer too', () => {
    const run = begun();
    const { look, call } = run;
    call('part');
    look([1, 2, 3]);
    expect(groups(run.known.of)).toEqual({ present: [1, 2, 3], deleted: idsBetween(4, 10) });
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 10) });
  });

  test('the first answer after a 500 proves what went in the 500, and not what goes in its own call', () => {
    const run = begun();
    const { look, call } = run;
    call('crossed');
    look([1, 2, 3, 4]);
    expect(groups(run.known.of)).toEqual({ present: [1, 2, 3, 4], gone: idsBetween(5, 10) });
    call('failed');
    look([1, 2, 3, 4]);
    call('whole');
    look([1, 2]);
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ goneOutOfOrder: [3, 4], deleted: [1, 2, ...idsBetween(5, 10)] });
  });

  test.each(['asked', 'failed', 'crossed'] as const)('no call was answered (%s): nobody can tell', (end) => {
    const run = begun();
    const { look, call } = run;
    call(end);
    look([]);
    expect(groups(run.known.of)).toEqual({ [end === 'asked' ? 'unanswered' : 'gone']: idsBetween(1, 10) });
    expect(statusOf(countsOf(run.known))).toBe('unseen');
  });

  test('what went in a call whose run ended before the answer: no later answer proves it', () => {
    const run = begun();
    const { look, call } = run;
    call('asked');
    look(idsBetween(1, 4));
    call('asked');
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 4), unanswered: idsBetween(5, 10) });
    expect(run.known.lastCall).toEqual({ end: 'asked', left: 10 });
  });

  test('the same, where one of them came back and a call was answered then', () => {
    const run = begun();
    const { look, call } = run;
    call('asked');
    look(idsBetween(1, 4));
    look([1, 2, 3, 4, 10]);
    call('asked');
    call('failed');
    look([]);
    call('whole');
    expect(groups(run.known.of)).toEqual({ deleted: [1, 2, 3, 4, 10], unanswered: idsBetween(5, 9) });
  });

  test('gone before the first look of a call: no call took it', () => {
    const run = begun([1, 2, 3], [1, 2]);
    run.call('whole');
    run.look([]);
    expect(groups(run.known.of)).toEqual({ deleted: [1, 2], goneOutOfOrder: [3] });
    expect(statusOf(countsOf(run.known))).toBe('unseen');
  });

  test('gone while a newer message stays: the server deletes the newest first, so no call took it', () => {
    const run = begun();
    const { look, call } = run;
    call('part');
    look([4, 5, 6]);
    call('whole');
    look([]);
    expect(groups(run.known.of)).toEqual({ goneOutOfOrder: [1, 2, 3], deleted: idsBetween(4, 10) });
  });

  test('found by a later look, in the topic or elsewhere', () => {
    const run = begun();
    const { look, call } = run;
    call('whole');
    look([]);
    expect(statusOf(countsOf(withStandings(run.known, [[2], 'elsewhere'])))).toBe('incomplete');
    look([1]);
    expect(groups(run.known.of)).toMatchObject({ present: [1], deleted: idsBetween(2, 10) });
  });

  test('what arrived is counted apart from what was surveyed', () => {
    const run = begun();
    const { look, call } = run;
    run.known = withStandings(run.known, [[11], 'present']);
    call('part');
    look([1, 2, 12]);
    const arrived = [...run.known.of.keys()].filter((id) => !run.known.start.has(id));
    expect({ arrived, left: leftIn(run.known) }).toEqual({ arrived: [11, 12], left: 2 });
  });
});

describe('a look that reads only the newest', () => {
  test('leaves what is below it as it was', () => {
    const run = begun();
    const { look, call } = run;
    call('part');
    look([5, 6], 5);
    expect(groups(run.known.of)).toEqual({ present: idsBetween(1, 6), deleted: idsBetween(7, 10) });
    expect(run.known.deeper).toEqual([]);
    // Message 5, which that look read, is left: the call did not go below it.
    expect(wentDeeper(run.known, [4, 5])).toBe(false);
  });

  test('a call that went below it: the range is named with the time of the look that read it', () => {
    const run = begun();
    const { look, call } = run;
    call('part');
    look([7, 8], 7);
    expect(wentDeeper(run.known, [2, 3])).toBe(true);
    call('part');
    look([1, 2, 3]);
    expect(run.known.deeper).toEqual([{ first: 4, last: 6, seen: time }]);
  });

  test('a call that ended with the topic after such a look', () => {
    const run = begun();
    const { look, call } = run;
    call('part');
    look([7, 8], 7);
    call('whole');
    look([]);
    expect(run.known.deeper).toEqual([{ first: 1, last: 6, seen: time }]);
    expect(groups(run.known.of)).toEqual({ deleted: idsBetween(1, 10) });
  });
});

describe('the steps of an earlier run', () => {
  test('give the standings that it had, whatever it was doing', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = numbers(seed);
      const run = begun();
      const topic = new Set(idsBetween(1, 10));
      let next = 10;
      for (let round = 0; round < 6; round += 1) {
        if (random() < 0.5) topic.add((next += 1));
        const newest = [...topic].sort((one, other) => other - one);
        for (const id of newest.slice(0, Math.floor(random() * 5))) topic.delete(id);
        if (random() < 0.3) topic.delete(Math.ceil(random() * 10));
        run.call((['whole', 'part', 'failed'] as const)[Math.floor(random() * 3)] ?? 'part');
        const from = random() < 0.5 ? null : Math.ceil(random() * next);
        run.look(
          [...topic].filter((id) => id >= (from ?? 0)).sort((one, other) => one - other),
          from,
        );
      }
      const again = run.steps.reduce(afterStep, expecting([]));
      expect({ seed, of: groups(again.of), present: presentIn(again) }).toEqual({
        ...{ seed, of: groups(run.known.of) },
        present: presentIn(run.known),
      });
    }
  });

  test('what came between two runs and left before the first look: no call took it', () => {
    const known = expecting([11], begun().known);
    const seen = afterStep(known, lookStep(known, time, null, idsBetween(1, 10)));
    expect(groups(seen.of)).toEqual({ present: idsBetween(1, 10), goneOutOfOrder: [11] });
  });

  test('a call that was sent and has no answer proves nothing; an answered one does', () => {
    const { steps } = begun();
    for (const [more, standing] of [
      [[], 'unanswered'],
      [[{ call: 'whole' }], 'deleted'],
    ] as const) {
      const known = [...steps, { call: 'asked' } as const, ...more].reduce(afterStep, expecting([]));
      expect(groups(afterStep(known, lookStep(known, time, null, [])).of)).toEqual({ [standing]: idsBetween(1, 10) });
    }
  });
});

/** Numbers in [0, 1) that every platform repeats alike. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
