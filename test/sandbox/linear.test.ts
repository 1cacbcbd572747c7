import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAddress } from '../../src/sandbox/chat/identity.ts';
import { render } from '../../src/sandbox/chat/render.ts';
import { highlight, searchTest } from '../../src/sandbox/chat/search.ts';
import { readMultipart } from '../../src/sandbox/multipart.ts';

const many = 250_000;

/** Quadratic work on so many characters takes a minute. CPU time is no longer on a busy machine. */
let before: NodeJS.CpuUsage;
beforeEach(() => void (before = process.cpuUsage()));
afterEach(() => expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5));

const types = 'multipart/form-data; boundary=x';
const bodies: readonly (readonly [name: string, body: string])[] = [
  ['half boundaries', '\r\n--'.repeat(many / 4)],
  ['boundaries', '--x\r\n'.repeat(many / 5)],
  ['a header without an end', `--x\r\n${'a: b\r\n'.repeat(many / 6)}`],
  ['blank lines', `--x\r\ncontent-disposition: form-data; name="a"\r\n${'\r\n'.repeat(many / 2)}`],
];

test.each(bodies)('a multipart body of %s is read in linear time', async (_name, body) => {
  expect(await readMultipart(types, Buffer.from(body))).toBeInstanceOf(URLSearchParams);
});

test.each([
  ['dots', `a@${'.'.repeat(many)}`, false],
  ['at signs', '@'.repeat(many), false],
  ['labels', `a@${'a.'.repeat(150)}example`, true],
])('an address of %s is checked in linear time', (_name, address, valid) => {
  expect(isAddress(address)).toBe(valid);
});

test.each([
  ['[', '['],
  ['[a](', '[a]('],
  ['![](/user_uploads/', '![](/user_uploads/'],
  ['http://', 'http://'],
  ['@**', '@**'],
  ['`', '`a'],
  ['<', '<'],
])('a message of %s is rendered, searched and marked in linear time', (_name, part) => {
  const text = part.repeat(many / part.length);

  expect(render(text).length).toBeGreaterThan(many / 2);
  expect(highlight(text, 'quay')).toBe(text);
  expect(searchTest(`quay ${text}`)).toBeTypeOf('function');
});
