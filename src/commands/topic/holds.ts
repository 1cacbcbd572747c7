import { usage } from '../../core/failure.ts';
import type { TopicHold } from '../../jobs/topic/holds.ts';
import { textField, type Fields, type Values } from '../../schema/field.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import { rosterSource, type RosterParts } from '../roster.ts';

export const holdOption = {
  hold: {
    ...textField(
      'FILE',
      'Topics that are never deleted: a topic on each line, or rows of channel and topic, or of ids, as topic list prints them; adds to CHATELAINE_HOLD',
    ),
    many: true,
  },
} as const satisfies Fields;

const rowFields = {
  stream_id: { kind: 'integer', min: 0, help: 'Id of the channel' },
  channel: textField('NAME', 'Name of the channel'),
  topic_name: { kind: 'string', help: 'Name of the topic' },
  ids: { kind: 'json', help: 'Ids of its messages' },
  first_id: { kind: 'integer', min: 1, help: 'Id of its first message' },
  last_id: { kind: 'integer', min: 1, help: 'Id of its last message' },
} as const satisfies Fields;

/** The holds of all files. @throws Failure usage for one that cannot be read, or that names no topic */
export async function readHolds(typed: readonly string[] = [], context: RosterParts): Promise<readonly TopicHold[]> {
  const { hold } = context.disk.files();
  const files = new Set([...(hold === undefined ? [] : [hold]), ...typed]);
  const holds: TopicHold[] = [];
  for (const file of files) holds.push(...(await holdsIn(file, context)));
  return holds;
}

async function holdsIn(path: string, context: RosterParts): Promise<readonly TopicHold[]> {
  const source = await rosterSource(path, {}, context);
  const { file, bytes } = source;
  const { isZip, rosterText } = await import('../../store/roster/roster-file.ts');
  const lines = isZip(bytes) ? [] : rosterText(file, bytes).split(/\r?\n/);
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const { normalized } = await import('../../store/roster/header.ts');
  const isColumn = (cell: string): boolean => Object.hasOwn(rowFields, normalized(cell.replaceAll('"', '')));
  const isTable = isZip(bytes) || /^\s*[[{]/.test(first) || first.split(/[,;\t]/).some(isColumn);
  if (!isTable) {
    const named = lines.flatMap((line, index) =>
      line.trim() === '' ? [] : [{ where: `${file}:${index + 1}`, topic_name: line, ids: [] }],
    );
    if (named.length === 0) throw usage(`${file} names no topic`, 'Write the name of a topic on each line.');
    return named;
  }
  const { readRoster } = await import('../../store/roster/read-roster.ts');
  const read = await readRoster<typeof rowFields, HoldRow>(source, {
    fields: rowFields,
    noun: 'topic',
    nameOf: ({ topic_name = '' }) => topic_name,
    completion: async () => (row: HoldRow) => {
      if (row.topic_name === undefined && idsOf(row).length === 0)
        throw usage(`neither topic_name nor ids is there; the empty topic is '${emptyTopicName}'`);
      return row;
    },
  });
  return read.rows.map((row, index) => ({
    where: `${file}:${read.lines[index] ?? 0}`,
    stream_id: row.stream_id,
    channel: row.channel,
    topic_name: row.topic_name,
    ids: idsOf(row),
  }));
}

type HoldRow = Values<typeof rowFields>;

/** Those of the row; of the first and the last message only these two: a topic between them is another one. */
function idsOf({ ids = [], first_id, last_id }: HoldRow): readonly number[] {
  const listed: readonly unknown[] = Array.isArray(ids) ? ids : [ids];
  const all = [...listed, first_id, last_id].filter((id) => id !== undefined && id !== null);
  if (all.every((id): id is number => Number.isSafeInteger(id))) return [...new Set(all)];
  throw usage('ids are no list of whole numbers');
}
