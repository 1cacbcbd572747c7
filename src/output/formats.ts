import type { ChalkInstance } from 'chalk';
import type { Format } from '../schema/formats.ts';
import { asObject } from './columns.ts';
import { picking } from './fields.ts';
import type { Form } from './form.ts';
import { plainLines } from './plain.ts';
import { sentencesOf } from './sentences.ts';
import type { JsonFilter, Look, Show } from './show.ts';
import type { TableParts } from './table-values.ts';

/** The form that a look asks for; its module, and with it a library, is loaded only now. */
export async function formOf(show: Show<unknown> | undefined, look: Look): Promise<Form> {
  if (look.filter) return filtered(await formOf(show, { ...asDocument(look), filter: undefined }), look.filter, look);
  if (show?.text) return pieces(look);
  return sentencesOf(show, look) ?? loadForm(show, look);
}

/** A terminal gets text that is harmless, and ends with a line break: the prompt of the shell is on a line of its own. */
function pieces({ terminal }: Look): Form {
  if (!terminal) return { one: String, row: String, end: () => '' };
  let isWhole = true;
  const row = (piece: unknown): string => {
    const text = plainLines(String(piece));
    if (text !== '') isWhole = text.endsWith('\n');
    return text;
  };
  return { one: (text) => `${row(text)}${isWhole ? '' : '\n'}`, row, end: () => (isWhole ? '' : '\n') };
}

function asDocument(look: Look): Look {
  return { ...look, format: 'json', terminal: false };
}

/** The whole document of a form through a filter; the rows of a list are held until they end. */
function filtered(form: Form, filter: JsonFilter, { terminal }: Look): Form {
  const shown = (json: string): string => (terminal ? plainLines(filter(json)) : filter(json));
  let document = '';
  return {
    one: (value) => shown(form.one(value)),
    row(row) {
      document += form.row(row);
      return '';
    },
    end: () => shown(document + form.end()),
  };
}

/** What writes a format: a row for each of every command, and for each that a result of rows has besides. */
const forms: Readonly<Record<Exclude<Format, DocumentOnly>, (show: AnyShow, look: Look) => Promise<Form>>> = {
  json: async (show, look) => picked((await import('./json.ts')).json(look), show, look),
  ndjson: async (show, look) => picked((await import('./ndjson.ts')).ndjson(look), show, look),
  yaml: async (show, look) => picked((await import('./yaml.ts')).yaml(), show, look),
  csv: async (show, look) => (await import('./csv.ts')).csv(show, look),
  tsv: async (show, look) => (await import('./tsv.ts')).tsv(show, look),
  table: async (show, look) => (await import('./table.ts')).table(show, look, await loadParts(show, look)),
  text: async (show, look) =>
    withUrls((await import('./messages/conversation.ts')).conversation(look, await loadPaint(look)), show),
};

type AnyShow = Show<unknown> | undefined;

/** Texts, and documents of messages, which are no form of rows. */
type DocumentOnly = 'html' | 'markdown' | 'curl';

function loadForm(show: AnyShow, look: Look): Promise<Form> {
  const { format } = look;
  if (format === 'html' || format === 'markdown' || format === 'curl') throw new Error(`no form writes ${format}`);
  return forms[format](show, look);
}

/** A form of messages that each have their own URL as a field. */
function withUrls(form: Form, show: Show<unknown> | undefined): Form {
  const withUrl = (row: unknown): unknown => ({ ...asObject(row, show), url: show?.cell?.(row, 'url') });
  return { one: (value) => form.one(withUrl(value)), row: (row) => form.row(withUrl(row)), end: () => form.end() };
}

function picked(form: Form, show: Show<unknown> | undefined, look: Look): Form {
  if (look.fields) return picking(form, show, look.fields);
  const data = show?.data;
  return data ? { ...form, one: (value) => form.one(data(value)), row: (row) => form.row(data(row)) } : form;
}

async function loadParts(show: Show<unknown> | undefined, look: Look): Promise<TableParts> {
  const hasMessages = Object.values(show?.layout ?? {}).some(({ as }) => as === 'message');
  return {
    bold: (await loadPaint(look))?.bold,
    fold: look.terminal ? (await import('./wrap.ts')).folded : undefined,
    messageText: hasMessages ? (await import('./messages/message-text.ts')).messageText() : undefined,
  };
}

async function loadPaint(look: Look): Promise<ChalkInstance | undefined> {
  return look.color ? (await import('./paint.ts')).painter(1) : undefined;
}
