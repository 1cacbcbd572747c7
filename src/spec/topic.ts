import type { Fields } from './field.ts';

/** POST /streams/{stream_id}/delete_topic (specification, Endpoints). */
export const topicFields = {
  stream_id: { kind: 'integer', required: true, min: 0, help: 'Id of the channel' },
  topic_name: { kind: 'string', required: true, help: 'The topic; the server matches it without regard to case' },
} as const satisfies Fields;

/** Levels at which deleting a topic changed (specification, States and transitions; facts page, section 6). */
export const topicLevels = { batches: 147, partial: 154, complete: 211, emptyTopic: 334 } as const;
