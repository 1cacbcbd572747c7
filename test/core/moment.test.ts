import { describe, expect, test } from 'vitest';
import { checkZone, dayAndMoment, momentText, parseMoment, startOfNext, utcText } from '../../src/core/moment.ts';
import { inZone } from '../helpers/zone.ts';

/** What a text means at a moment of a zone. */
function meant(zone: string, now: string, text: string): string {
  inZone(zone);
  return dayAndMoment(parseMoment(text, { now: () => Date.parse(now), checkZone: () => checkZone({ TZ: zone }) }));
}

describe.each<[string, string, string, Readonly<Record<string, string>>]>([
  [
    'clocks go forward at two',
    'America/New_York',
    '2026-03-08T16:00-04:00',
    {
      today: 'Sunday 2026-03-08T00:00:00-05:00',
      yesterday: 'Saturday 2026-03-07T00:00:00-05:00',
      sunday: 'Sunday 2026-03-08T00:00:00-05:00',
      Monday: 'Monday 2026-03-02T00:00:00-05:00',
      thu: 'Thursday 2026-03-05T00:00:00-05:00',
      'thursday 09:30': 'Thursday 2026-03-05T09:30:00-05:00',
      'yesterday 18:00': 'Saturday 2026-03-07T18:00:00-05:00',
      '2026-03-08 02:30': 'Sunday 2026-03-08T03:30:00-04:00',
      '2026-11-01T01:30:15': 'Sunday 2026-11-01T01:30:15-04:00',
      '24h': 'Saturday 2026-03-07T15:00:00-05:00',
      '2w': 'Sunday 2026-02-22T15:00:00-05:00',
      '1mo': 'Sunday 2026-02-08T16:00:00-05:00',
      '2026-03-01T08:00:00Z': 'Sunday 2026-03-01T03:00:00-05:00',
      '2026-03-01t08:00+01:00': 'Sunday 2026-03-01T02:00:00-05:00',
    },
  ],
  [
    'months end earlier',
    'Europe/Berlin',
    '2024-03-31T17:00+02:00',
    {
      '1mo': 'Thursday 2024-02-29T17:00:00+01:00',
      '13mo': 'Tuesday 2023-02-28T17:00:00+01:00',
      '1y': 'Friday 2023-03-31T17:00:00+02:00',
      '2024-03-31': 'Sunday 2024-03-31T00:00:00+01:00',
    },
  ],
  [
    'half an hour is missing, or comes twice',
    'Australia/Lord_Howe',
    '2025-10-05T18:00+11:00',
    {
      today: 'Sunday 2025-10-05T00:00:00+10:30',
      '2025-10-05 02:15': 'Sunday 2025-10-05T02:45:00+11:00',
      '2025-04-06 01:45': 'Sunday 2025-04-06T01:45:00+11:00',
      '18h': 'Saturday 2025-10-04T23:30:00+10:30',
    },
  ],
  [
    'a Friday is skipped',
    'Pacific/Apia',
    '2011-12-31T19:00+14:00',
    {
      today: 'Saturday 2011-12-31T00:00:00+14:00',
      yesterday: 'Thursday 2011-12-29T00:00:00-10:00',
      friday: 'Friday 2011-12-23T00:00:00-10:00',
      sunday: 'Sunday 2011-12-25T00:00:00-10:00',
      '2011-12-30': 'Saturday 2011-12-31T00:00:00+14:00',
    },
  ],
  [
    'a day without a midnight',
    'America/Sao_Paulo',
    '2018-11-05T15:00-02:00',
    {
      yesterday: 'Sunday 2018-11-04T01:00:00-02:00',
      '2018-11-04': 'Sunday 2018-11-04T01:00:00-02:00',
      saturday: 'Saturday 2018-11-03T00:00:00-03:00',
    },
  ],
  [
    'a day with two midnights',
    'America/Havana',
    '2025-11-02T00:30-05:00',
    {
      today: 'Sunday 2025-11-02T00:00:00-04:00',
      yesterday: 'Saturday 2025-11-01T00:00:00-04:00',
      '2025-11-02': 'Sunday 2025-11-02T00:00:00-04:00',
    },
  ],
  [
    'no clock is changed',
    'UTC',
    '2026-03-02T00:00Z',
    {
      today: 'Monday 2026-03-02T00:00:00+00:00',
      sun: 'Sunday 2026-03-01T00:00:00+00:00',
      '12000mo': 'Thursday 1026-03-02T00:00:00+00:00',
    },
  ],
])('%s: %s at %s', (_what, zone, now, texts) => {
  test.each(Object.entries(texts))('%s is %s', (text, moment) => {
    expect(meant(zone, now, text)).toBe(moment);
  });
});

const noTimes = [
  '',
  'soon',
  '2026-02-30',
  '2026-03-01T',
  'today 25:00',
  '09:30',
  '9 am',
  'today 9:30',
  '2026-03',
  '20.11.2026',
  '1h30m',
  '@1772352000',
  'today 10:00+01:00',
  '1001y',
  '12001mo',
  '5min',
  'su',
];

test.each(noTimes)("'%s' is no time, and three kinds of times that work are named", (text) => {
  expect(() => meant('UTC', '2026-03-01T12:00Z', text)).toThrow(
    expect.objectContaining({
      message: `'${text}' is not a time`,
      details: { hint: expect.stringMatching(/yesterday.*2026-03-01T08:00:00Z.*3mo/) as string },
    }),
  );
});

test('every example of that error is a time', () => {
  const examples = [
    ...['today', 'yesterday', 'monday', '2026-03-01', '2026-03-01 08:00', 'today 09:30', '2026-03-01T08:00:00Z'],
    ...['12h', '7d', '2w', '3mo', '1y'],
  ];
  for (const text of examples) expect(meant('Asia/Tokyo', '2026-03-01T12:00Z', text)).toMatch(/\+09:00$/);
});

test.each(['today', '2026-03-01', '2026-03-01T08:00', '3mo'])('%s needs a known zone', (text) => {
  expect(() => meant('Nowhere/Town', '2026-03-01T12:00Z', text)).toThrow("TZ names no time zone: 'Nowhere/Town'");
});

test.each(['7d', '2w', '2026-03-01T08:00:00Z'])('%s needs none', (text) => {
  expect(meant('Nowhere/Town', '2026-03-01T12:00Z', text)).toMatch(/2026-0/);
});

const zones = [
  undefined,
  '',
  'UTC',
  ':Europe/Berlin',
  'posix/Europe/Berlin',
  '/usr/share/zoneinfo/Europe/Berlin',
  'EST5EDT',
  'UTC0',
  'GMT-0',
  ':/etc/localtime',
  '/etc/localtime',
];

test.each(zones)('TZ=%s is a zone', (TZ) => {
  expect(() => checkZone({ TZ })).not.toThrow();
});

test.each([
  [1_772_000_000, '2026-02-25T06:13:20Z'],
  [null, null],
  [Infinity, null],
  [1e300, null],
])('%s seconds are %s', (seconds, text) => {
  expect(utcText(seconds)).toBe(text);
});

test.each([
  ['day', '2026-03-01', '2026-03-02'],
  ['day', '2026-03-29', '2026-03-30'],
  ['day', '2026-10-25', '2026-10-26'],
  ['week', '2026-03-23', '2026-03-30'],
  ['week', '2026-10-19', '2026-10-26'],
  ['month', '2026-01-01', '2026-02-01'],
  ['month', '2026-02-01', '2026-03-01'],
  ['year', '2026-01-01', '2027-01-01'],
  ['year', '2024-01-01', '2025-01-01'],
] as const)('behind the %s of %s begins that of %s', (period, day, next) => {
  inZone('Europe/Berlin');
  expect(momentText(startOfNext(Date.parse(`${day}T00:00`), period)).slice(0, 16)).toBe(`${next}T00:00`);
});
