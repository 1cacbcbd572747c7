// How much there is: lines, files, named functions and exported types of src, scripts and bin, by patterns at the
// beginning of a line. `node bench/count.js [CLONE]` counts in another clone.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const clone = process.argv[2] ?? '.';
const patterns = {
  lines: /\n/g,
  files: /^/g,
  functions: /^(?:export )?(?:default )?(?:async )?function/gm,
  'exported types': /^export (?:interface|type) /gm,
};
const kinds = Object.keys(patterns);
const rooms = ['src', 'scripts', 'bin'].map((room) => ({ room, ...countIn(room) }));
for (const row of [...rooms, { room: 'together', ...sumOf(rooms) }])
  console.log(`${row.room.padEnd(10)}${kinds.map((kind) => `${Object(row)[kind]} ${kind}`.padStart(22)).join('')}`);

/** @param {string} room */
function countIn(room) {
  const files = readdirSync(join(clone, room), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.[cm]?[jt]s$/.test(name),
  );
  const texts = files.map((name) => readFileSync(join(clone, room, name), 'utf8'));
  return sumOf(
    texts.map((text) =>
      Object.fromEntries(Object.entries(patterns).map(([kind, pattern]) => [kind, [...text.matchAll(pattern)].length])),
    ),
  );
}

/** @param {readonly Record<string, unknown>[]} rows */
function sumOf(rows) {
  return Object.fromEntries(kinds.map((kind) => [kind, rows.reduce((sum, row) => sum + Number(row[kind]), 0)]));
}
