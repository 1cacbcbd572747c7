import { crc32, deflateRawSync } from 'node:zlib';

/** How a file is put into an archive. */
interface Packing {
  readonly method?: 0 | 8;
  /** What its entries say in place of the truth. */
  readonly says?: {
    readonly method?: number;
    readonly flags?: number;
    readonly crc?: number;
    readonly size?: number;
    readonly packed?: number;
  };
}

/** A zip archive of files. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, { method = 8, says }: Packing = {}): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content);
    const packed = method === 8 ? deflateRawSync(data) : data;
    const common = Buffer.alloc(22);
    common.writeUInt16LE(says?.flags ?? 0, 0);
    common.writeUInt16LE(says?.method ?? method, 2);
    common.writeUInt32LE(says?.crc ?? crc32(data), 8);
    common.writeUInt32LE(says?.packed ?? packed.length, 12);
    common.writeUInt32LE(says?.size ?? data.length, 16);
    common.writeUInt16LE(Buffer.byteLength(name), 20);
    const local = Buffer.concat([
      Buffer.from('PK\x03\x04\x14\0', 'latin1'),
      common,
      Buffer.of(1, 0),
      Buffer.from(`${name}x`),
      packed,
    ]);
    const rest = Buffer.alloc(16);
    rest.set([2, 0, 3, 0]);
    rest.writeUInt32LE(at, 12);
    entries.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\0\x14\0', 'latin1'), common, rest, Buffer.from(`${name}xxyyy`)]),
    );
    parts.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** What a workbook holds beside the XML of its rows. */
export interface WorkbookParts {
  /** The rows of each sheet, or of the one sheet `Users`: the content of `sheetData`. */
  readonly sheets: Readonly<Record<string, string>> | string;
  readonly strings?: string;
  readonly styles?: string;
  /** Attributes of `workbookPr`, and of each sheet by its name. */
  readonly properties?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Files that replace or join the others. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly packing?: Packing;
}

const schema = 'http://schemas.openxmlformats.org';
const main = `xmlns="${schema}/spreadsheetml/2006/main" xmlns:r="${schema}/officeDocument/2006/relationships"`;

/** A workbook as programs write it (ECMA-376). */
export function workbookOf({
  sheets,
  strings,
  styles,
  properties = '',
  attributes = {},
  files,
  packing,
}: WorkbookParts): Buffer {
  const all = Object.entries(typeof sheets === 'string' ? { Users: sheets } : sheets);
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${schema}/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  const relations = (inner: string): string =>
    `<Relationships xmlns="${schema}/package/2006/relationships">${inner}</Relationships>`;
  return zipOf(
    {
      '[Content_Types].xml': `<Types xmlns="${schema}/package/2006/content-types"/>`,
      '_rels/.rels': relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
      'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<workbook ${main}><workbookPr ${properties}/><sheets>${all
        .map(
          ([name], index) =>
            `<sheet name="${name}" sheetId="${index + 7}" r:id="rId${index + 1}" ${attributes[name] ?? ''}/>`,
        )
        .join('')}</sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations(
        [
          ...all.map((_sheet, index) => relation(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`)),
          relation('rId90', 'styles', 'styles.xml'),
          relation('rId91', 'sharedStrings', '/xl/sharedStrings.xml'),
        ].join(''),
      ),
      ...(strings === undefined ? {} : { 'xl/sharedStrings.xml': `<sst ${main}>${strings}</sst>` }),
      ...(styles === undefined ? {} : { 'xl/styles.xml': `<styleSheet ${main}>${styles}</styleSheet>` }),
      ...Object.fromEntries(
        all.map(([, rows], index) => [
          `xl/worksheets/sheet${index + 1}.xml`,
          `<worksheet ${main}><dimension ref="A1"/><sheetData>${rows}</sheetData><pageMargins left="0.7"/></worksheet>`,
        ]),
      ),
      ...files,
    },
    packing,
  );
}

/** A row of texts and numbers as it is written without shared texts; a cell that begins with `<` is XML of its own. */
export function rowOf(line: number, cells: readonly (string | number)[], attributes = ''): string {
  const written = cells.map((cell, index) => {
    const place = `${String.fromCharCode(65 + index)}${line}`;
    if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
    if (cell.startsWith('<c')) return cell.replace('<c', `<c r="${place}"`);
    return cell === '' ? '' : `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${cell}</t></is></c>`;
  });
  return `<row r="${line}" ${attributes}>${written.join('')}</row>`;
}
