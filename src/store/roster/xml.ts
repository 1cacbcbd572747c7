import { Parser, type Handler } from 'htmlparser2';
import { unless, type Failure } from '../../core/failure.ts';
import { damaged, type Zip } from './zip.ts';

interface XmlReader {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(piece: string): void;
  close?(name: string): void;
  isDone?(): boolean;
}

const maxDepth = 64;

/** A cell holds at most 32,767 characters. */
const maxTextBytes = 1024 * 1024;

/** Reads a part of the archive piece by piece: memory stays flat. @throws Failure usage where it is no XML */
export async function parseXml(zip: Zip, part: string, reader: XmlReader): Promise<void> {
  if (!zip.names.includes(part)) return;
  let [depth, sinceTag, openedAt] = [0, 0, 0];
  const handler: Partial<Handler> = {
    onopentag(name, attributes) {
      [depth, sinceTag, openedAt] = [depth + 1, 0, parser.endIndex];
      if (depth > maxDepth) throw notXml(part, `more than ${maxDepth} levels`);
      reader.open(localName(name), attributes);
    },
    // Its entities are not known here; the format forbids it.
    onprocessinginstruction(name) {
      if (name.startsWith('!')) throw notXml(part, 'a document type');
    },
    ontext: (piece) => reader.text?.(piece),
    onclosetag(name, isImplied) {
      [depth, sinceTag] = [depth - 1, 0];
      // The parser is lenient: it also closes what is left open, and half a sheet is not a whole one.
      if (isImplied && parser.endIndex !== openedAt) throw notXml(part, `<${name}> is not closed`);
      reader.close?.(localName(name));
    },
  };
  const parser = new Parser(handler, { xmlMode: true });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of zip.read(part)) {
    sinceTag += chunk.length;
    if (sinceTag > maxTextBytes + chunk.length) throw notXml(part, 'a text of more than 1 MiB');
    const text = unless(TypeError, () => decoder.decode(chunk, { stream: true }));
    if (text === undefined) throw notXml(part, 'not UTF-8');
    parser.write(text);
    if (reader.isDone?.()) return;
  }
  parser.end();
}

function notXml(part: string, reason: string): Failure {
  return damaged(`${part}: ${reason}`);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
