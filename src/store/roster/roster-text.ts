import { isUtf8 } from 'node:buffer';
import { unless, usage, type Failure } from '../../core/failure.ts';
import { encodingOf } from '../../core/read.ts';

const saveAsCsv = 'Open it in the spreadsheet program and save it as "CSV UTF-8".';

const saveAsUtf8 =
  'Save it again: in Excel with File, Save As, "CSV UTF-8"; in LibreOffice with the character set UTF-8. Or: iconv -f CP1252 -t UTF-8';

/** Workbooks of today are archives of files: a zip. */
export function isZip(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'PK\x03\x04';
}

/** The text of a roster without byte order mark: UTF-8, or UTF-16 with one. @throws Failure usage for other bytes */
export function rosterText(file: string, bytes: Buffer): string {
  if (isZip(bytes)) throw usage(`${file}: this is a workbook, not text`, 'Give --input-format xlsx.');
  if (bytes.toString('latin1', 0, 4) === '\xD0\xCF\x11\xE0') throw olderWorkbook(file, bytes);
  const text = decodeRoster(file, bytes);
  if (text.includes('\0')) throw usage(`${file}: this is not text, or UTF-16 without a byte order mark`, saveAsCsv);
  if (/^\s*</.test(text)) throw usage(`${file}: this is HTML or XML, not a roster`, saveAsCsv);
  return text;
}

/** The container of workbooks until 2003, and of those that a password encrypts. */
function olderWorkbook(file: string, bytes: Buffer): Failure {
  return bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    ? usage(`${file}: this workbook is protected by a password`, 'Open it, and save it without one.')
    : usage(
        `${file}: this is a workbook (.xls), not text`,
        'Open it in the spreadsheet program and save it as ".xlsx".',
      );
}

function decodeRoster(file: string, bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  const bad = encoding === 'utf-8' && !isUtf8(bytes) ? linesNotUtf8(bytes) : [];
  const [first] = bad;
  if (first !== undefined) {
    const more = bad.length > 1 ? ` and ${bad.length - 1} more` : '';
    throw usage(`${file}: not UTF-8 on line ${first}${more}; it may be Windows-1252, as Excel writes CSV`, saveAsUtf8);
  }
  const text = unless(TypeError, () => new TextDecoder(encoding, { fatal: true }).decode(bytes));
  if (text === undefined) throw usage(`${file}: not valid UTF-16`, saveAsUtf8);
  return text;
}

function linesNotUtf8(bytes: Buffer): readonly number[] {
  return [...linesIn(bytes)].flatMap(({ line, start, end }) => (isUtf8(bytes.subarray(start, end)) ? [] : [line]));
}

/** The lines of a text by its bytes, from 1 on: no byte of a character that takes several is a line end. */
export function* linesIn(
  bytes: Buffer,
): Generator<{ readonly line: number; readonly start: number; readonly end: number }> {
  let [line, start] = [1, 0];
  for (let end = 0; end <= bytes.length; end += 1) {
    const isEnd = end === bytes.length || bytes[end] === 10 || (bytes[end] === 13 && bytes[end + 1] !== 10);
    if (!isEnd) continue;
    yield { line, start, end };
    [line, start] = [line + 1, end + 1];
  }
}
