/** What a link to a conversation names, copied from the web app after its `#`. */
export interface NarrowLink {
  readonly channel: number;
  /** Absent where the link is of the whole channel. */
  readonly topic?: string;
}

/**
 * A link such as `#narrow/channel/31-bulk/topic/every.20shape/near/256002` (before level 300 `stream` in place of `channel`).
 * Undefined for any other text, links of direct messages and searches included.
 */
export function narrowLink(text: string): NarrowLink | undefined {
  const [, id, topic] =
    /^#?narrow\/(?:channel|stream)\/(\d{1,15})(?:-[^/]*)?(?:\/(?:topic|subject)\/([^/]*))?(?:\/|$)/.exec(text) ?? [];
  if (id === undefined) return undefined;
  if (topic === undefined) return { channel: Number(id) };
  const name = decodeHash(topic);
  return name === undefined ? undefined : { channel: Number(id), topic: name };
}

/** Zulip's encoding of a part of a link's hash, whose dots are percent signs; undefined where it is none. */
function decodeHash(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('.', '%'));
  } catch (cause) {
    if (cause instanceof URIError) return undefined;
    throw cause;
  }
}
