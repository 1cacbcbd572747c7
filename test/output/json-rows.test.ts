import { expect, test } from 'vitest';
import { elementsOf } from '../../src/core/json-elements.ts';
import { joiner } from '../../src/output/json-rows.ts';

const textsOf = (...ids: readonly number[]) =>
  elementsOf(Buffer.from(JSON.stringify({ rows: ids.map((id) => ({ id })) })), 'rows').elements;
const textIn = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('texts are joined between two pieces, the first of them after another one', () => {
  const join = joiner();
  expect(textIn(join(textsOf(1, 2), '', '\n'))).toBe('{"id":1}\n{"id":2}\n');
  expect(textIn(join(textsOf(1, 2), ',\n  ', '', '[\n  '))).toBe('[\n  {"id":1},\n  {"id":2}');
});

test('each page is joined in the same buffer, unless it is far larger than those before it', () => {
  const join = joiner();
  const [first, second] = [join(textsOf(1, 2, 3, 4), '', '\n'), join(textsOf(5, 6, 7, 8, 9), '', '\n')];
  expect(textIn(second)).toBe('{"id":5}\n{"id":6}\n{"id":7}\n{"id":8}\n{"id":9}\n');
  expect([second.buffer === first.buffer, second.byteOffset]).toEqual([true, first.byteOffset]);

  expect(textIn(join(textsOf(...Array.from({ length: 100 }, () => 10)), '', '\n'))).toBe('{"id":10}\n'.repeat(100));
});
