import { Parser, type Handler } from 'htmlparser2';
import { unless, type Failure } from '../../core/failure.ts';
import { mebibytes } from './limits.ts';
import { damaged, type Zip } from './zip.ts';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** Its own, without that of its children. */
  text: string;
}

const maxDepth = 64;

/** Elements of these names in a part of the archive, one by one: memory stays flat. @throws Failure usage for no XML */
export async function* elementsIn(zip: Zip, part: string, names: readonly string[]): AsyncGenerator<XmlElement> {
  if (!zip.names.includes(part)) return;
  const { elements, textBytes } = zip.limits;
  const whole: XmlElement[] = [];
  const open: XmlElement[] = [];
  let [depth, count, sinceTag, openedAt] = [0, 0, 0, 0];
  const handler: Partial<Handler> = {
    onopentag(prefixed, attributes) {
      [depth, count, sinceTag, openedAt] = [depth + 1, count + 1, 0, parser.endIndex];
      if (depth > maxDepth) throw notXml(part, `more than ${maxDepth} levels`);
      const name = prefixed.slice(prefixed.indexOf(':') + 1);
      const parent = open.at(-1);
      if (!parent && !names.includes(name)) return;
      const element = { name, attributes, children: [], text: '' };
      if (!parent) count = 0;
      if (count > elements) throw notXml(part, `an element with more than ${elements} in it`);
      parent?.children.push(element);
      open.push(element);
    },
    // Its entities are not known here; the format forbids it.
    onprocessinginstruction(name) {
      if (name.startsWith('!')) throw notXml(part, 'a document type');
    },
    ontext(piece) {
      const element = open.at(-1);
      if (element) element.text += piece;
    },
    onclosetag(name, isImplied) {
      [depth, sinceTag] = [depth - 1, 0];
      // The parser is lenient: it also closes what is left open, and half a sheet is not a whole one.
      if (isImplied && parser.endIndex !== openedAt) throw notXml(part, `<${name}> is not closed`);
      const element = open.pop();
      if (element && open.length === 0) whole.push(element);
    },
  };
  const parser = new Parser(handler, { xmlMode: true });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of zip.read(part)) {
    sinceTag += chunk.length;
    if (sinceTag > textBytes + chunk.length) throw notXml(part, `a text of more than ${mebibytes(textBytes)}`);
    const text = unless(TypeError, () => decoder.decode(chunk, { stream: true }));
    if (text === undefined) throw notXml(part, 'not UTF-8');
    parser.write(text);
    yield* whole.splice(0);
  }
  parser.end();
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
