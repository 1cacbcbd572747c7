import { TokenParser, Tokenizer, TokenType } from '@streamparser/json';
import { exactNumber, maxDepth } from './json.ts';

/** What a split document is made of. */
export type JsonPiece =
  /** An element of the array that is the member `array` of the document; undefined: the document is the array. */
  | { readonly array: string | undefined; readonly element: unknown }
  /** The last piece: the document, with the first elements of its arrays. */
  | { readonly rest: unknown };

/** More than any element of a list, in bytes. */
const maxElementBytes = 16 * 1024 * 1024;
/** Elements that `rest` holds of each array: all of those that are no rows. */
const keptElements = 100;

/**
 * Splits a JSON document that is too large to be held: into the elements of its array, or of each array that is a member of it, and at
 * the end what is beside them. One element is held at a time; integers beyond 2^53 are read as `bigint`.
 * @throws SyntaxError where it is not JSON, ends early, is nested too deep, or has an element of more than 16 MiB
 */
export async function* splitJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonPiece> {
  const found: JsonPiece[] = [];
  const parser = openParser((piece) => found.push(piece));
  let held = 0;
  let hasRest = false;
  for await (const chunk of wholeCharacters(chunks)) {
    parser.write(chunk);
    held = found.length > 0 ? 0 : held + chunk.length;
    if (held > maxElementBytes) throw new SyntaxError('an element of it is larger than 16 MiB');
    hasRest ||= found.some((piece) => 'rest' in piece);
    yield* found.splice(0);
  }
  parser.end();
  if (!hasRest && found.length === 0) throw new SyntaxError('it is empty');
  yield* found;
}

/** The same bytes in chunks that end between characters, as the library needs them. */
async function* wholeCharacters(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    const end = bytes.length - begunAtEnd(bytes);
    begun = bytes.subarray(end);
    yield bytes.subarray(0, end);
  }
  yield begun;
}

/** The library's way to read numbers is to override this method; its type says number, and it passes the value on as it is. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    return exactNumber(text) as number;
  }
}

/** How many bytes at the end may be the beginning of a character: those from the last first byte on. */
function begunAtEnd(bytes: Uint8Array): number {
  for (let count = 1; count <= 3; count += 1) {
    const byte = bytes.at(-count) ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return count;
  }
  return 0;
}

interface PieceParser {
  write(chunk: Uint8Array): void;
  end(): void;
}

function openParser(add: (piece: JsonPiece) => void): PieceParser {
  const tokenizer = new ExactTokenizer({ stringBufferSize: 64 * 1024 });
  const tokens = new TokenParser({ paths: ['$', '$.*', '$.*.*'] });
  let depth = 0;
  tokenizer.onToken = (token) => {
    depth += depthOf[token.token] ?? 0;
    if (depth > maxDepth) throw new Error(`it is nested more than ${maxDepth} levels deep`);
    tokens.write(token);
  };
  tokens.onValue = ({ value, key, parent, stack }) => {
    if (stack.length === 0) add({ rest: value });
    const array = stack[1]?.key;
    const isRow = stack.length === 1 || (stack.length === 2 && typeof array === 'string');
    if (!isRow || !Array.isArray(parent) || typeof key !== 'number') return;
    add({ array: typeof array === 'string' ? array : undefined, element: value });
    if (key >= keptElements) parent.length = keptElements;
  };
  return {
    write: (chunk) => orSyntaxError(() => tokenizer.write(chunk)),
    end: () =>
      orSyntaxError(() => {
        if (!tokenizer.isEnded) tokenizer.end();
        if (!tokens.isEnded) tokens.end();
      }),
  };
}

const depthOf: Readonly<Partial<Record<TokenType, number>>> = {
  [TokenType.LEFT_BRACE]: 1,
  [TokenType.LEFT_BRACKET]: 1,
  [TokenType.RIGHT_BRACE]: -1,
  [TokenType.RIGHT_BRACKET]: -1,
};

/** The library's errors are of its own classes. */
function orSyntaxError(run: () => void): void {
  try {
    run();
  } catch (cause) {
    throw new SyntaxError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
