/** The channel as an argument of the topic commands. */
export const channelArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'CHANNEL',
  help: 'Id or name of the channel; id:7 and name:2024 say which; #name, and a #narrow/… link or its whole URL as pasted',
} as const;

/** A message's UTC seconds as RFC 3339; null for none, and for what is beyond all calendars. */
export function timeText(seconds: number | null): string | null {
  const date = new Date((seconds ?? NaN) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}
