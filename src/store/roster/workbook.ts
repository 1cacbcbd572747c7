import { posix } from 'node:path';
import { usage } from '../../core/failure.ts';
import {
  isTrue,
  readSheet,
  textReader,
  unescaped,
  type CellContext,
  type NumberStyle,
  type TextReader,
} from './sheet.ts';
import { parseXml } from './xml.ts';
import { openZip, type Zip } from './zip.ts';

/** A sheet of a workbook in the format of Office Open XML (ECMA-376, part 1, 18). */
export interface Sheet {
  readonly name: string;
  /** @throws Failure usage */
  read(limit?: number): ReturnType<typeof readSheet>;
}

const saveAs = 'Open it in the spreadsheet program and save it as ".xlsx" or "CSV UTF-8".';

/** The shown sheets of a workbook, in order of tabs. @throws Failure usage for another format, or a damaged file */
export async function openWorkbook(bytes: Buffer): Promise<readonly Sheet[]> {
  const zip = openZip(bytes);
  const main = (await relationsOf(zip, '')).find(({ type }) => type.endsWith('/relationships/officeDocument'));
  const book = main?.target ?? 'xl/workbook.xml';
  if (!zip.names.includes(book) || !book.endsWith('.xml')) throw usage(`this is ${otherKind(zip)}`, saveAs);
  const relations = await relationsOf(zip, book);
  const partOf = (type: string): string =>
    relations.find((relation) => relation.type.endsWith(`/${type}`))?.target ?? '';
  const named: { name: string; part: string }[] = [];
  let epoch: CellContext['epoch'] = '1900';
  await parseXml(zip, book, {
    open(name, attributes) {
      if (name === 'workbookPr' && isTrue(attributes['date1904'])) epoch = '1904';
      if (name !== 'sheet' || (attributes['state'] ?? 'visible') !== 'visible') return;
      const [, reference] = Object.entries(attributes).find(([key]) => key.endsWith(':id')) ?? [];
      const relation = relations.find(({ id }) => id === reference);
      if (relation?.type.endsWith('/worksheet'))
        named.push({ name: unescaped(attributes['name'] ?? ''), part: relation.target });
    },
  });
  const styles = await stylesOf(zip, partOf('styles'));
  const texts = await sharedTexts(zip, partOf('sharedStrings'));
  const meaning = { styles, texts, epoch };
  return named.map(({ name, part }) => ({ name, read: (limit) => readSheet(zip, part, meaning, limit) }));
}

function otherKind({ names }: Zip): string {
  if (names.includes('xl/workbook.bin')) return 'a workbook (.xlsb)';
  if (names.some((name) => name.startsWith('word/'))) return 'a text document (.docx)';
  if (names.includes('Index/Document.iwa')) return 'a workbook (.numbers)';
  return names.includes('content.xml') ? 'a workbook (.ods)' : 'a zip archive, not a workbook';
}

type Relation = Readonly<Record<'id' | 'type' | 'target', string>>;

/** Which other parts a part names; '' is the archive. */
async function relationsOf(zip: Zip, part: string): Promise<readonly Relation[]> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const found: Relation[] = [];
  await parseXml(zip, `${folder}_rels/${part.slice(folder.length)}.rels`, {
    open(name, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (name === 'Relationship') found.push({ id, type, target: posix.resolve('/', folder, target).slice(1) });
    },
  });
  return found;
}

async function stylesOf(zip: Zip, part: string): Promise<readonly NumberStyle[]> {
  const formats = new Map<string, string>();
  const styles: NumberStyle[] = [];
  let isOfCells = false;
  await parseXml(zip, part, {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'numFmt') formats.set(numFmtId, formatCode);
      if (name === 'cellXfs') isOfCells = true;
      if (name === 'xf' && isOfCells) styles.push(styleOf(Number(numFmtId), formats.get(numFmtId)));
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return styles;
}

/** By the format's code; those without one are of ECMA-376, part 1, 18.8.30: 14 to 22, 27 to 36, 45 to 58 are dates. */
function styleOf(id: number, code: string | undefined): NumberStyle {
  if (code === undefined)
    return (id >= 14 && id <= 36 && id !== 23) || (id >= 45 && id <= 58 && id !== 48 && id !== 49) ? 'date' : 1;
  const [plain = ''] = code.replace(/"[^"]*"|\\.|[_*]./g, '').split(';');
  if (/\[(h+|m+|s+)\]/i.test(plain)) return 'date';
  const signs = plain.replace(/\[[^\]]*\]/g, '');
  if (/^0+$/.test(signs)) return signs.length;
  return /[ymdhs]/i.test(signs) && !/general|standard/i.test(signs) ? 'date' : 1;
}

/** The texts that cells name by number: most writers put each text there once. */
async function sharedTexts(zip: Zip, part: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let text: TextReader | undefined;
  await parseXml(zip, part, {
    open(name) {
      if (name === 'si') text = textReader();
      else text?.open(name);
    },
    text: (piece) => text?.text(piece),
    close(name) {
      text?.close(name);
      if (name === 'si' && text) texts.push(text.value());
    },
  });
  return texts;
}
