import { rowOf, type Format } from '../../src/output/formats.ts';
import type { Presentation, Show } from '../../src/output/presentation.ts';
import type { Sink } from '../../src/output/sink.ts';
import { writeResult, type Result } from '../../src/output/write.ts';

/** A pipe's presentation in the format named; the rest as a test needs it. */
export function look(format: Format, rest: Partial<Presentation> = {}): Presentation {
  return {
    show: {},
    format: rowOf(format) ?? {},
    fields: undefined,
    header: true,
    color: false,
    terminal: false,
    width: 0,
    ...rest,
  };
}

/** What a result looks like as one text. */
export async function written(result: Result, wanted: Presentation, show?: Show<unknown>): Promise<string> {
  const pieces: string[] = [];
  const sink: Sink = { write: (text) => Promise.resolve(void pieces.push(String(text))) };
  await writeResult(result, show ? { ...wanted, show } : wanted, sink);
  return pieces.join('');
}

/** A list whose rows come one by one, as from a network. */
export function many(...rows: readonly unknown[]): Result {
  return { many: rowsOf(rows) };
}

/** Rows that end by throwing. */
export async function* failing(rows: readonly unknown[], error: Error): AsyncGenerator {
  yield* rowsOf(rows);
  throw error;
}

async function* rowsOf(rows: readonly unknown[]): AsyncGenerator {
  for (const row of rows) yield await Promise.resolve(row);
}
