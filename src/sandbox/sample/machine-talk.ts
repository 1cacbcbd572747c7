import type { Conversation, Line } from './conversations.ts';

/** A topic so long that its deletion takes several calls: the station writes down every sensor that it calibrated. */
export const calibrationLog: Conversation = {
  stream_id: 1,
  topic: 'calibration log',
  begins: '2026-01-26T07:30:00Z',
  lines: Array.from({ length: 320 }, (_, index) => calibration(index)),
};

function calibration(index: number): Line {
  const sensor = `D4:22:CD:00:${hex(3 + (index >> 8))}:${hex(index & 255)}`;
  const offset = (((index * 37) % 41) / 100).toFixed(2);
  const verdict = index % 53 === 52 ? 'out of range, calibrate again' : 'ok';
  return [
    13,
    index === 0 ? 0 : 7 + (index % 5),
    `\`${sensor}\` calibrated: offset ${offset}°, drift ${(index * 13) % 9} µg/√Hz, ${verdict}`,
  ];
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}

/** One line a night. */
export const nightlyBuilds: Conversation = {
  stream_id: 2,
  topic: 'nightly builds',
  begins: '2026-01-13T02:00:00Z',
  lines: Array.from({ length: 58 }, (_, index) => night(index)),
};

function night(index: number): Line {
  const failed = index % 17 === 11;
  const build = `build ${1400 + index}`;
  const text = failed
    ? `${build} **failed**: https://ci.harbour.example/builds/${1400 + index}`
    : `${build} passed, ${512 + ((index * 7) % 40)} tests, image ${196 + (index % 6)} KiB`;
  return [13, index === 0 ? 0 : 1440, text];
}
