import { Parser, type Handler } from 'htmlparser2';
import { unless, type Failure } from '../../core/failure.ts';
import { damaged, type Zip } from './zip.ts';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** The element's own text, without that of its children. */
  text: string;
}

const maxDepth = 64;
/** The most elements in one element: a row of a workbook has at most 16,384 cells. */
const maxElements = 500_000;

/** Visits the elements of these names in a part of the archive, until `visit` has enough. @throws Failure usage */
export function visitElements(
  zip: Zip,
  part: string,
  names: readonly string[],
  visit: (element: XmlElement) => 'more' | 'enough',
): void {
  const open: XmlElement[] = [];
  let [depth, count, openedAt] = [0, 0, 0];
  const handler: Partial<Handler> = {
    onopentag(prefixed, attributes) {
      [depth, count, openedAt] = [depth + 1, count + 1, parser.endIndex];
      if (depth > maxDepth) throw notXml(part, `more than ${maxDepth} levels`);
      const name = prefixed.slice(prefixed.indexOf(':') + 1);
      const parent = open.at(-1);
      if (!parent && !names.includes(name)) return;
      const element = { name, attributes, children: [], text: '' };
      if (!parent) count = 0;
      if (count > maxElements) throw notXml(part, `an element with more than ${maxElements} in it`);
      parent?.children.push(element);
      open.push(element);
    },
    // Entities of a document type are not known here, and the format forbids one.
    onprocessinginstruction(name) {
      if (name.startsWith('!')) throw notXml(part, 'a document type');
    },
    ontext(piece) {
      const element = open.at(-1);
      if (element) element.text += piece;
    },
    onclosetag(name, isImplied) {
      depth -= 1;
      // The parser is lenient: it also closes what is left open, and half a sheet is not a whole one.
      if (isImplied && parser.endIndex !== openedAt) throw notXml(part, `<${name}> is not closed`);
      const element = open.pop();
      if (element && open.length === 0 && visit(element) === 'enough') parser.pause();
    },
  };
  const parser = new Parser(handler, { xmlMode: true });
  const bytes = zip.read(part);
  const text = bytes && unless(TypeError, () => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (bytes && text === undefined) throw notXml(part, 'not UTF-8');
  parser.end(text);
}

/** All elements of these names in a part of the archive. @throws Failure usage for no XML */
export function elementsIn(zip: Zip, part: string, names: readonly string[]): readonly XmlElement[] {
  const found: XmlElement[] = [];
  visitElements(zip, part, names, (element) => (found.push(element), 'more'));
  return found;
}

/** The text in an element and its runs of one format each; without the phonetic readings that Japanese texts have. */
export function textIn({ name, text, children }: XmlElement): string {
  return name === 't' ? unescaped(text) : children.map((child) => (child.name === 'rPh' ? '' : textIn(child))).join('');
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export function unescaped(text: string): string {
  return text.replace(/_x([\dA-F]{4})_/gi, (_escape, code: string) => String.fromCharCode(parseInt(code, 16)));
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

function notXml(part: string, reason: string): Failure {
  return damaged(`${part}: ${reason}`);
}
