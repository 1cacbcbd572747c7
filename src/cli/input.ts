import type { Readable } from 'node:stream';
import { usage } from '../core/failure.ts';
import type { Field, Fields } from '../schema/field.ts';
import type { Texts } from './values.ts';
import type { World } from './world.ts';

/**
 * The text of a file; `-` is standard input.
 * @throws Failure usage
 */
export async function readText({ stdin }: World, file: string): Promise<string> {
  if (file === '-') return readStream(stdin);
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const why = (cause as Error).message.replace(/^\w+: /, '').replace(/,.*/, '');
    throw usage(`cannot read ${file}: ${why}`, 'Give a file that exists, or - for standard input.');
  }
}

/**
 * Arguments written as `-` come from standard input: the first line for one word, every line for a list of words. A file named
 * `-` is left to the command.
 * @throws Failure usage where two arguments ask for it, or it is empty
 */
export async function fillFromInput(words: Texts, args: Fields, world: World): Promise<Texts> {
  const asking = Object.entries(words).filter(
    ([name, word]) => !isFile(args[name]) && (word === '-' || (Array.isArray(word) && word.includes('-'))),
  );
  const [first, ...others] = asking;
  if (!first) return words;
  if (others.length > 0) throw usage('only one argument can come from standard input');
  const lines = (await readStream(world.stdin)).split(/\r?\n/).filter((line) => line !== '');
  const [name, word] = first;
  if (lines.length === 0) throw usage(`${name}: standard input is empty`);
  const filled = Array.isArray(word) ? word.flatMap((item: unknown) => (item === '-' ? lines : [item])) : lines[0];
  return { ...words, [name]: filled };
}

function isFile(field: Field | undefined): boolean {
  return field?.kind === 'string' && field.file === true;
}

async function readStream(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer | string>) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
