import { writeJson } from '../core/json.ts';
import { namesIn } from '../core/table-names.ts';
import { asObject, rulesOf, unlessNothing } from './columns.ts';
import type { Separator } from './csv.ts';
import { joinTexts } from './json-rows.ts';
import { plainJson, plainLines } from './plain.ts';
import type { FormatRow, Formatter, Presentation } from './presentation.ts';

/** Every format, in the order of help, with the function that loads its module and libraries. */
export const formats = {
  table: {
    general: true,
    forPeople: true,
    load: async (presentation) => (await import('./table.ts')).table(presentation),
  },
  json: jsonFormat(json),
  ndjson: jsonFormat(ndjson),
  csv: { general: true, load: async (presentation) => (await import('./csv.ts')).csv(presentation) },
  tsv: { general: true, load: async (presentation) => (await import('./tsv.ts')).tsv(presentation) },
  yaml: {
    general: true,
    whole: true,
    load: async (presentation) => pickFields((await import('./yaml.ts')).yaml(), presentation),
  },
  excel: excelFormat(','),
  'excel-semicolon': excelFormat(';'),
  text: {
    forPeople: true,
    shows: 'conversations',
    load: async (presentation) => {
      const { conversation } = await import('./messages/conversation.ts');
      const { show } = presentation;
      // Each message has its own URL as a field.
      return reading(conversation(presentation), (row) => ({
        ...asObject(row, show),
        url: rulesOf(show, 'url')?.of?.(row),
      }));
    },
  },
  html: {},
  markdown: {
    ofPlan: true,
    shows: 'what changes',
    load: async (presentation) => (await import('./plan.ts')).changes(presentation),
  },
  curl: { ofPlan: true, shows: 'command lines' },
} as const satisfies Readonly<Record<string, FormatRow>>;

function jsonFormat(write: typeof json) {
  const load = async (presentation: Presentation) => pickFields(write(presentation), presentation);
  return { general: true, whole: true, isJson: true, load } as const;
}

function excelFormat(separator: Separator) {
  const load = async (presentation: Presentation) => (await import('./csv.ts')).excel(presentation, separator);
  return { general: true, load } as const;
}

/** The plan of a dry run, as the question of its command shows it. */
export const planFormat: FormatRow = {
  forPeople: true,
  load: async (presentation) => (await import('./plan.ts')).planFormatter(presentation),
};

export type Format = keyof typeof formats;

export const generalFormats: readonly Format[] = namesIn(formats).filter((name) => rowOf(name)?.general);

export const wholeFormats: readonly Format[] = namesIn(formats).filter((name) => rowOf(name)?.whole);

export function rowOf(name: string | undefined): FormatRow | undefined {
  const rows: Readonly<Record<string, FormatRow>> = formats;
  return name !== undefined && Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** Loads the module that writes a result, and with it a library. */
export async function formatterOf(presentation: Presentation): Promise<Formatter> {
  const { format, isText, sentence, terminal } = presentation;
  if (isText) return pieces(presentation);
  if (sentence) return sentences(sentence);
  if (!format.load) throw new Error(`no formatter writes this format on a ${terminal ? 'terminal' : 'pipe'}`);
  return format.load(presentation);
}

/** A terminal gets harmless text that ends with a line break, so that the shell's prompt has a line of its own. */
function pieces({ terminal }: Presentation): Formatter {
  if (!terminal) return { one: String, row: String, end: () => '' };
  let isWhole = true;
  const row = (piece: unknown): string => {
    const text = plainLines(String(piece));
    if (text !== '') isWhole = text.endsWith('\n');
    return text;
  };
  return { one: (text) => `${row(text)}${isWhole ? '' : '\n'}`, row, end: () => (isWhole ? '' : '\n') };
}

function sentences(textOf: (row: unknown) => string): Formatter {
  const row = (value: unknown): string => {
    const text = textOf(value);
    return text === '' ? '' : `${text}\n`;
  };
  return { one: unlessNothing(row), row, end: () => '' };
}

/** A formatter of objects reduced to `fields`; a column of the command counts where the row lacks the key. */
function pickFields(formatter: Formatter, { show, fields }: Presentation): Formatter {
  if (!fields) return show.data ? reading(formatter, show.data) : formatter;
  const { texts: _, ...other } = formatter;
  return reading(other, (row) => {
    const object = asObject(row, show);
    if (!object) return row;
    const pairs = fields.map((field) => [
      field,
      Object.hasOwn(object, field) ? object[field] : rulesOf(show, field)?.of?.(row),
    ]);
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  });
}

/** A formatter to which each row goes through `read`; JSON texts go to it unchanged. */
function reading(formatter: Formatter, read: (row: unknown) => unknown): Formatter {
  return { ...formatter, one: (value) => formatter.one(read(value)), row: (row) => formatter.row(read(row)) };
}

const [first, next] = ['[\n  ', ',\n  '];

/** One document, indented; a list is one array, written row by row. A row that is JSON text is one line, unchanged. */
function json({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const write = (value: unknown): string => {
    const text = writeJson(value, 2);
    return terminal ? plainJson(text) : text;
  };
  let started = false;
  const start = (): string => {
    const before = started ? next : first;
    started = true;
    return before;
  };
  return {
    one: (value) => `${write(value)}\n`,
    row: (row) => start() + write(row).replaceAll('\n', '\n  '),
    ...(terminal ? {} : { texts: (texts) => joinTexts(texts, next, '', texts.length === 0 ? '' : start()) }),
    end: () => (started ? '\n]\n' : '[]\n'),
  };
}

/** One compact value a line; no result is no line. */
function ndjson({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const row = (value: unknown): string => {
    const line = `${writeJson(value)}\n`;
    return terminal ? plainJson(line) : line;
  };
  return {
    one: unlessNothing(row),
    row,
    ...(terminal ? {} : { texts: (texts) => joinTexts(texts, '', '\n') }),
    end: () => '',
  };
}
