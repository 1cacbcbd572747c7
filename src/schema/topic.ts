/** Levels at which the deletion of a topic changed (docs/apis.md, Deleting a topic). */
export const topicLevels = { batches: 147, partial: 154, complete: 211, emptyTopic: 334 } as const;

/** What the chat's clients put in front of the name of a resolved topic (docs/apis.md, Topics). */
export const resolvedPrefix = '✔ ';
