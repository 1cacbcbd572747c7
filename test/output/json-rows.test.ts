import { expect, test } from 'vitest';
import { elementsOf } from '../../src/core/json-elements.ts';
import { joinTexts } from '../../src/output/json-rows.ts';

const textsOf = (...ids: readonly number[]) =>
  elementsOf(Buffer.from(JSON.stringify({ rows: ids.map((id) => ({ id })) })), 'rows').elements;
const textIn = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('texts are joined between two pieces, the first of them after another one', () => {
  expect(textIn(joinTexts(textsOf(1, 2), '', '\n'))).toBe('{"id":1}\n{"id":2}\n');
  expect(textIn(joinTexts(textsOf(1, 2), ',\n  ', '', '[\n  '))).toBe('[\n  {"id":1},\n  {"id":2}');
  expect(textIn(joinTexts([], ',\n  ', '', '[\n  '))).toBe('');
});
