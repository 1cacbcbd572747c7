/** Levels at which deleting a topic changed (specification, States and transitions; facts page, section 6). */
export const topicLevels = { batches: 147, partial: 154, complete: 211, emptyTopic: 334 } as const;
