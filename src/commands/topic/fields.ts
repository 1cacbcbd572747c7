/** The channel as an argument of the topic commands. */
export const channelArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'CHANNEL',
  help: 'Id or name of the channel; id:7 and name:2024 say which; #name and a #narrow/… link as pasted',
} as const;

/** A message's UTC seconds as RFC 3339; null for none. */
export function timeText(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
