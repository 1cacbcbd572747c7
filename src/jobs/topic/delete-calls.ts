import type { CallEnd } from '../../store/archive/line-file.ts';

/** The last delete call, and how many messages were in the topic before it. */
export interface LastCall {
  readonly end: CallEnd;
  readonly left: number;
}

/** What calls prove: an answer what went since the look before its call, the first one after a 500 only what had gone before that look. */
export function openCalls() {
  let last: LastCall | undefined;
  let gone: 'taken' | 'deleted' | 'lost' = 'taken';
  let isCrossed = false;
  return {
    last: () => last,
    /** A call after a look that showed so many messages. */
    ended(end: CallEnd, shown: number): void {
      last = { end, left: end === 'asked' ? shown : (last?.left ?? shown) };
      gone = !isAnswer(end) ? 'taken' : isCrossed ? 'lost' : 'deleted';
      isCrossed = end === 'crossed' || (isCrossed && !isAnswer(end));
    },
    /** What becomes of messages that the look after the last call does not show any more. */
    next(): typeof gone {
      const standing = gone;
      gone = 'taken';
      return standing;
    },
  };
}

export function isAnswer(end: CallEnd): boolean {
  return end === 'whole' || end === 'part';
}
