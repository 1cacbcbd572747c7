/** Levels at which the deletion of a topic changed (docs/apis.md, Deleting a topic). */
export const topicLevels = { batches: 147, partial: 154, complete: 211, emptyTopic: 334 } as const;

/** The chat's clients put it in front of the name of a resolved topic (docs/apis.md, Topics). */
export const resolvedPrefix = '✔ ';

/** A topic's name without that mark. */
export function unmarked(name: string): string {
  return name.startsWith(resolvedPrefix) ? name.slice(resolvedPrefix.length) : name;
}

/** A name as the server compares it: its database keeps `ß` and `SS` apart (docs/apis.md, Topics). */
export function foldName(name: string): string {
  return Array.from(name)
    .map((letter) => {
      const upper = letter.toUpperCase();
      return Array.from(upper).length === 1 ? upper : letter;
    })
    .join('');
}

export function isSameName(one: string, other: string): boolean {
  return one === other || foldName(one) === foldName(other);
}

/** The server's name of the empty topic for clients that do not know it (`realm_empty_topic_display_name`). */
export const emptyTopicName = 'general chat';

/** A topic's name as the server compares it: the empty topic has two. */
export function foldTopic(name: string): string {
  return name === emptyTopicName ? '' : foldName(name);
}

export function isSameTopic(one: string, other: string): boolean {
  return foldTopic(one) === foldTopic(other);
}
