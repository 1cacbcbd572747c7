/** Faults by what a client can know after them; each fault of the sandbox is in one group. */
export const limits = '429 429-float 429-int 429-date 429-null 429-tiny 429-html';
export const undone = '502 503 504 drop-before reset hang';
/** It would be as large again: not repeated, but settled where a list can. */
export const large = 'huge';
export const carriedOut = '502-after 503-after 504-after drop-after reset-after hang-after cut early-502';
export const late = 'delay-commit delay-commit-504';
export const lost = `${undone} ${carriedOut} ${late}`;
export const broke = '500 500-after';
export const unreadable = 'html empty json-garbage';
export const harmless = 'slow content-type early';
export const elsewhere = 'redirect redirect-307';

/** Exit codes, and after which faults they are due (docs/internals/architecture.md, Failures and exit codes). */
export type Exits = Readonly<Record<number, string>>;

export interface Expected {
  /** After the fault has met the first of the requests. */
  readonly once: Exits;
  /** After it has met every one of them. */
  readonly always: Exits;
}

/**
 * Reads of both APIs and repeatable writes of the chat: repeated where no answer came, never where one came that is
 * none; an error in a 200 is the refusal that it says.
 */
export const repeatable: Expected = {
  once: {
    0: `${limits} ${lost} ${harmless}`,
    6: `${elsewhere} error-in-200`,
    7: `429-long ${large} ${broke} ${unreadable}`,
  },
  always: {
    0: harmless,
    6: `${elsewhere} error-in-200`,
    7: `${limits} 429-long ${lost} ${large} ${broke} ${unreadable}`,
  },
};

/** Pages of messages: after one that is too large, a smaller one is fetched. */
export const pages: Expected = {
  once: { ...repeatable.once, 0: `${limits} ${lost} ${large} ${harmless}`, 7: `429-long ${broke} ${unreadable}` },
  always: repeatable.always,
};

/** PUT and PATCH of a license are settled by a read; a response that does not show the change is read back. */
export const licenseEdit: Expected = {
  once: {
    0: `${limits} ${lost} ${large} ${broke} ${harmless} empty json-garbage`,
    6: `${elsewhere} html error-in-200`,
    7: '429-long',
  },
  always: {
    0: `${carriedOut} ${late} 500-after ${harmless} empty json-garbage`,
    6: `${elsewhere} html error-in-200`,
    7: `${limits} 429-long`,
    9: `${undone} ${large} 500`,
  },
};

/** POST /license/: what is unconfirmed is settled by a list, and sent again where the list shows nothing. */
export const licensePost: Expected = {
  once: { 0: `${limits} ${lost} ${large} ${broke} ${harmless} ${unreadable} ${elsewhere} error-in-200`, 7: '429-long' },
  always: {
    0: `${carriedOut} ${late} 500-after ${harmless} empty json-garbage`,
    7: `${limits} 429-long`,
    9: `${undone} ${large} 500 html ${elsewhere} error-in-200`,
  },
};

const sentOnce = { 6: `${elsewhere} error-in-200`, 9: `${lost} ${large} ${broke} ${unreadable}` };

/** E-mail and password: sent once; whatever leaves open what happened is 9. */
export const chatOnce: Expected = {
  once: { ...sentOnce, 0: `${limits} ${harmless}`, 7: '429-long' },
  always: { ...sentOnce, 0: harmless, 7: `${limits} 429-long` },
};

const renamed = {
  0: `${carriedOut} 500-after ${harmless} empty json-garbage`,
  6: `${elsewhere} error-in-200`,
  9: `${undone} ${large} ${late} 500 html`,
};

/** A rename is sent once: the list of views settles it, and one that it does not show stays open. */
export const viewRename: Expected = {
  once: { ...renamed, 0: `${limits} ${renamed[0]}`, 7: '429-long' },
  always: { ...renamed, 7: `${limits} 429-long` },
};

/**
 * Repeated by what is left of the topic; what stays in the way leaves a topic that may be deleted in part. Where the
 * topic is empty and no call is known to have ended, nothing proves that its messages were deleted.
 */
export const topicPost: Expected = {
  once: {
    0: `${limits} ${undone} ${large} ${late} html ${harmless}`,
    6: `${elsewhere} error-in-200`,
    8: `429-long ${carriedOut} 500 500-after empty json-garbage`,
  },
  always: {
    0: harmless,
    6: `${elsewhere} error-in-200`,
    8: `${limits} 429-long ${lost} ${large} ${broke} ${unreadable}`,
  },
};

/** What only explains or improves is never a failure. */
export const helpful: Expected = {
  once: { 0: `${limits} 429-long ${lost} ${large} ${broke} ${unreadable} ${harmless} ${elsewhere} error-in-200` },
  always: { 0: `${limits} 429-long ${lost} ${large} ${broke} ${unreadable} ${harmless} ${elsewhere} error-in-200` },
};

/** The first request only improves; a long 429 is of the account, and holds back the others too. */
export const optionalFirst: Expected = {
  once: { 0: `${limits} ${lost} ${large} ${broke} ${unreadable} ${harmless} ${elsewhere} error-in-200`, 7: '429-long' },
  always: repeatable.always,
};
