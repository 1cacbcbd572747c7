import { expect, test } from 'vitest';
import { phoneCode, readMac } from '../../src/schema/license.ts';

test.each([
  ['00:1b:63:84:45:e6', '00:1B:63:84:45:E6'],
  ['as arp of macOS writes it', '0:1b:63:84:45:e6'],
  ['as Cisco writes it', '001b.6384.45e6'],
  ['as a number', '0x001b638445e6'],
  ['with dashes of a word processor', '00\u201111b\u201163\u201184\u201145\u2011e6'.replace('11b', '1b')],
  ['with a minus', '00\u22121b\u221263\u221284\u221245\u2212e6'],
  ['with groups of any length', '001:b:63:84:45:e6'],
  ['digit by digit', '0:0:1:b:6:3:8:4:4:5:e:6'],
  ['in full width', '\uff10\uff10\uff1a1b:63:84:45:e6'],
])('a sensor address %s is read', (_how, text) => {
  expect(readMac(text)).toBe('00:1B:63:84:45:E6');
});

test('an address of 16 digits without zeros at the beginning of pairs is read', () => {
  expect(readMac('0:13:43:9a:1:7f:0:2')).toBe('00:13:43:9A:01:7F:00:02');
});

test.each(['0:1b:63:84:45', '01b:63:84:45:e6', '0x1b638445e6', '0:1b:63:84:45:eg', '::::::'])(
  'no address is made of %s',
  (text) => {
    expect(() => readMac(text)).toThrow('is not a sensor address');
  },
);

const readOut = [
  '0191A-86552',
  '0191a-86552',
  '0191A86552',
  '0191a 86552',
  'O19lA86552',
  'oi91a-86552',
  '0191A–86552',
  '0191A — 86552',
  '„0191A-86552“',
  '0191A-86552.',
  'Key: 0191A 86552',
  'License key = "0191a-86552"',
  '\uff10\uff11\uff19\uff11\uff21-86552',
];

test.each(readOut)('a key is compared as people read it out: %s', (text) => {
  expect(phoneCode(text)).toBe('0191A86552');
});
