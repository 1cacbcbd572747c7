import { usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import type { NarrowTerm } from '../../schema/narrow.ts';
import { isSameName } from '../../schema/topic.ts';
import type { Archive } from '../../store/archive/archive.ts';
import { readPart, type ArchiveForm } from '../../store/archive/part.ts';
import { heeding, sizeOf, type ChosenArchive, type ChosenPart } from './archived-messages.ts';

/**
 * The archive with the chosen messages alone, or with all at a damaged part, where the export ends.
 * @throws as `isChosen`; the reason of the signal
 */
export async function chosenArchive(
  archive: Archive,
  form: ArchiveForm,
  isChosen: (message: JsonObject) => boolean,
  signal: AbortSignal,
): Promise<ChosenArchive> {
  const parts: ChosenPart[] = [];
  for (const part of archive.parts) {
    const read = await readPart(archive.folder, part, form);
    const chosen: number[] = [];
    for await (const message of heeding(signal, read.problem === undefined ? read.messages : [], sizeOf))
      if (isChosen(message)) chosen.push(message.id);
    const [first, last] = [chosen[0], chosen.at(-1)];
    if (read.problem !== undefined) parts.push(part);
    else if (first !== undefined && last !== undefined)
      parts.push({ ...part, chosen, first, last, count: chosen.length });
  }
  return { ...archive, parts };
}

/** Whether a message matches a term. @throws Failure usage for a term that an archive cannot tell */
export function matches(message: JsonObject, { operator, operand, negated }: NarrowTerm): boolean {
  const { stream_id, display_recipient, subject, sender_id, sender_email, sender_full_name } = message;
  const fields: Partial<Record<string, readonly unknown[]>> = {
    channel: [stream_id, display_recipient],
    topic: [Array.isArray(display_recipient) ? undefined : subject],
    sender: [sender_id, sender_email, sender_full_name],
  };
  const values = fields[operator];
  if (!values) throw usage(`an archive is selected by channel, topic and sender: '${operator}' is none of them`);
  const isSame = (value: unknown): boolean =>
    typeof operand === 'number' ? value === operand : typeof value === 'string' && isSameName(value, String(operand));
  return values.some(isSame) !== (negated ?? false);
}
