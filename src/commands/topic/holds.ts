import { Failure, usage } from '../../core/failure.ts';
import { tsvText } from '../../core/tsv.ts';
import type { TopicHold } from '../../jobs/topic/holds.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import type { Accounts } from '../context.ts';
import type { RosterSource } from '../../store/roster/read-roster.ts';
import { rosterSource, type RosterParts } from '../roster.ts';
import { readPlace, topicRowFields, withoutOptions } from './named-topics.ts';

export const holdOption = {
  hold: {
    ...textField(
      'FILE',
      'Never delete the topics in this file: a topic or link per line, or rows of channel and topic, or of ids, as topic list prints them; a rename ends a hold by name, but not by ids; adds to CHATELAINE_HOLD',
    ),
    many: true,
  },
} as const satisfies Fields;

type HoldParts = RosterParts & Accounts;

const rowFields = {
  ...topicRowFields,
  ids: { kind: 'json', help: 'Ids of its messages' },
  first_id: { kind: 'integer', min: 1, help: 'Id of its first message' },
  last_id: { kind: 'integer', min: 1, help: 'Id of its last message' },
} as const satisfies Fields;

/** The holds of all files. @throws Failure usage for one that cannot be read, or that names no topic */
export async function readHolds(typed: readonly string[] = [], context: HoldParts): Promise<readonly TopicHold[]> {
  const { hold } = context.disk.files();
  const files = new Set([...(hold === undefined ? [] : [hold]), ...typed]);
  const holds: TopicHold[] = [];
  for (const file of files) holds.push(...(await holdsIn(file, context)));
  return holds;
}

async function holdsIn(path: string, context: HoldParts): Promise<readonly TopicHold[]> {
  const source = await rosterSource(path, {}, context);
  const { file, bytes } = source;
  const { isZip, rosterText } = await import('../../store/roster/roster-file.ts');
  const { normalized } = await import('../../store/roster/header.ts');
  const lines = isZip(bytes) ? [] : rosterText(file, bytes).split(/\r\n|[\n\r\u2028\u2029]/);
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const isJson = /^\s*[[{]/.test(first);
  const names = isJson ? lines.join(',').split(/[,{:]/) : first.split(/[,;\t]/);
  const header = names.map((cell) => normalized(cell.replaceAll('"', '')));
  const isTable = isZip(bytes) || isJson || header.some((name) => Object.hasOwn(rowFields, name));
  if (isTable) return holdsInRows(source, header);
  const holds: TopicHold[] = [];
  for (const [index, line] of lines.entries())
    if (plain(line) !== '') holds.push(await holdIn(line, `${file}:${index + 1}`, context));
  if (holds.length === 0) throw usage(`${file} names no topic`, 'Write the name of a topic on each line.');
  return holds;
}

async function holdsInRows(source: RosterSource, header: readonly string[]): Promise<readonly TopicHold[]> {
  const { readRoster } = await import('../../store/roster/read-roster.ts');
  const { rows, lines } = await readRoster<typeof rowFields, HoldRow>(source, {
    fields: rowFields,
    noun: 'topic',
    nameOf: ({ topic_name = '' }) => topic_name,
    completion: async () => (row: HoldRow) => {
      if (row.topic_name === undefined && !header.includes('topic_name') && idsOf(row).length === 0)
        throw usage(`topic_name and ids are both missing; the empty topic is '${emptyTopicName}'`);
      return row;
    },
  }).catch(withoutOptions);
  return rows.map((row, index) => {
    const { stream_id, channel, topic_name } = row;
    const ids = idsOf(row);
    const name = topic_name ?? (ids.length === 0 ? '' : undefined);
    const names = name === undefined ? [] : [name, plain(name)];
    return { where: `${source.file}:${lines[index] ?? 0}`, stream_id, channel, names, ids };
  });
}

/** A line without byte order marks, and with single blanks. */
function plain(line: string): string {
  return line.replaceAll('\uFEFF', '').replace(/\s+/g, ' ').trim();
}

/** Reads a line as a link, or as a name in each form that programs write: a hold too many does no harm. */
async function holdIn(line: string, where: string, context: HoldParts): Promise<TopicHold> {
  const text = plain(line);
  if (line.trim().includes('\t'))
    throw usage(`${where}: a row of several columns, without a header`, 'Keep the header that topic list prints.');
  if (/^(https?:\/\/|#narrow\/|#\*\*)/.test(text)) {
    const { channel, topic } = await readPlace(text, context).catch((cause: unknown) => {
      throw cause instanceof Failure ? cause.as(cause.kind, `${where}: ${cause.message}`) : cause;
    });
    if (topic === undefined) throw usage(`${where}: the link leads to no topic`, 'Copy the link of each topic.');
    const id = /^id:(\d+)$/.exec(channel)?.[1];
    const place = id === undefined ? { channel: channel.replace(/^name:/, '') } : { stream_id: Number(id) };
    return { where, ...place, names: [topic], ids: [] };
  }
  const cell = text.replace(/[,;]+$/, '');
  const unquoted = /^"(.*)"$/s.exec(cell)?.[1]?.replaceAll('""', '"');
  const names = new Set([line.replaceAll('\uFEFF', '').trim(), text, cell, unquoted, tsvText(text, 'name')]);
  return { where, names: [...names].filter((name) => name !== undefined), ids: [] };
}

type HoldRow = Values<typeof rowFields>;

/** The ids of a row; first_id and last_id are no range, since messages between them may be of other topics. */
function idsOf({ ids = [], first_id, last_id }: HoldRow): readonly number[] {
  const listed: readonly unknown[] = Array.isArray(ids) ? ids : [ids];
  const all = [...listed, first_id, last_id].filter((id) => id !== undefined && id !== null);
  if (all.every((id): id is number => Number.isSafeInteger(id))) return [...new Set(all)];
  throw usage('ids is not a list of whole numbers');
}
