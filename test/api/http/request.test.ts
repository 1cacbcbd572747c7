import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWhole } from '../../helpers/extent.ts';
import { anyText } from '../../helpers/texts.ts';
import { path } from '../../../src/api/http/request.ts';
import { Failure } from '../../../src/core/failure.ts';

describe('a value is one segment of the path', () => {
  test.each([
    ['plain', 'ABC-12', 'ABC-12'],
    ['a slash', 'a/b', 'a%2Fb'],
    ['a question mark, a hash and a percent', 'a?b#c%d', 'a%3Fb%23c%25d'],
    ['dots within', 'a..b', 'a..b'],
    ['three dots', '...', '...'],
    ['an encoded dot', '%2e%2e', '%252e%252e'],
    ['a blank and letters beyond ASCII', 'ü ñ', '%C3%BC%20%C3%B1'],
    ['a backslash', 'a\\b', 'a%5Cb'],
    ['a line end', 'a\r\nb', 'a%0D%0Ab'],
  ])('%s', (_what, text, sent) => {
    expect(path`/v1/license/${text}/`).toEqual({ sent: `/v1/license/${sent}/`, shown: `/v1/license/${sent}/` });
  });

  test.each(['', '.', '..'])('%j is refused', (text) => {
    expect(() => path`/v1/license/${text}/`).toThrow(Failure);
    expect(() => path`/x/${{ segments: ['a', text, 'b'] }}`).toThrow(Failure);
    expect(() => path`/x/${{ name: 'code', value: text }}`).toThrow(Failure);
  });

  test('any text is sent as one segment that is read back, or refused', () => {
    const text = fc.oneof(
      anyText(),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'e', '\\', '\ud800', '\udfff') }),
    );
    fc.assert(
      fc.property(text, (value) => {
        let url: URL;
        try {
          url = new URL(`https://host.test${path`/a/${value}/z`.sent}`);
        } catch (cause) {
          expect(cause).toMatchObject({ kind: 'usage' });
          return;
        }
        const [nothing, first, middle, last, ...rest] = url.pathname.split('/');
        expect([nothing, first, last, rest, url.search, url.hash]).toEqual(['', 'a', 'z', [], '', '']);
        expect(decodeURIComponent(middle ?? '')).toBe(value);
      }),
      { seed: 20_260_301, numRuns: isWhole ? 500 : 100 },
    );
  });
});

test('slashes between segments stay, and each segment is encoded', () => {
  expect(path`/api/v1/navigation_views/${{ segments: ['narrow', 'topic', 'a?b', 'ü'] }}`.sent).toBe(
    '/api/v1/navigation_views/narrow/topic/a%3Fb/%C3%BC',
  );
  expect(path`/x/${{ segments: ['a', ''] }}/${'b'}`.sent).toBe('/x/a//b');
  expect(() => path`/x/${{ segments: [''] }}`).toThrow(Failure);
});

test('a hidden value is sent, and shown as its name', () => {
  expect(path`/v1/license/${{ name: 'license_code', value: 'S/1' }}/`).toEqual({
    sent: '/v1/license/S%2F1/',
    shown: '/v1/license/[license_code]/',
  });
});

test('numbers are digits', () => {
  expect(path`/api/v1/streams/${0}/x`.sent).toBe('/api/v1/streams/0/x');
});
