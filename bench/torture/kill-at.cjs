// Preloaded with `node -r`: kills this process at the nth write of a record or a journal. KILL_AT is `n:phase`, where
// the phase is `before`, `torn` (half of the line is written), `unsynced` (written, not synced) or `after` the sync.
// Without it the writes are counted into the file COUNT_INTO. Nothing of this is in the program.
'use strict';
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const [wanted = '0', phase = ''] = (process.env['KILL_AT'] ?? '').split(':');
const { appendFileSync } = fs;
const { open } = fs.promises;
/** The descriptors of these files. @type {Set<unknown>} */
const watched = new Set();
let writes = 0;

fs.promises.open = async (path, ...rest) => {
  const file = await open(path, ...rest);
  if (/[\\/](journals[\\/][^\\/]*\.ndjson|[^\\/]*\.run)$/.test(String(path))) watch(file);
  return file;
};
fs.appendFileSync = (target, text, ...rest) => {
  if (!watched.has(target)) return appendFileSync(target, text, ...rest);
  writes += 1;
  if (process.env['COUNT_INTO']) appendFileSync(process.env['COUNT_INTO'], '.');
  if (isDue('before')) die();
  if (isDue('torn')) {
    appendFileSync(target, String(text).slice(0, Math.max(1, String(text).length >> 1)));
    die();
  }
  appendFileSync(target, text, ...rest);
  if (isDue('unsynced')) die();
};
syncBuiltinESMExports();

/** @param {import('node:fs/promises').FileHandle} file */
function watch(file) {
  watched.add(file.fd);
  const [datasync, close] = [file.datasync.bind(file), file.close.bind(file)];
  file.close = () => {
    watched.delete(file.fd);
    return close();
  };
  file.datasync = async () => {
    await datasync();
    if (isDue('after')) die();
  };
}

/** @param {string} now */
function isDue(now) {
  return phase === now && writes === Number(wanted);
}

/** Nothing runs after the signal is sent. */
function die() {
  process.kill(process.pid, 'SIGKILL');
}
