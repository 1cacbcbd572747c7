// Preloaded with `node -r`: kills this process at the nth write of a journal. KILL_AT is `n:phase`, where the phase is `before`,
// `torn` (half of the line is written), `unsynced` (written, not synced) or `after` the sync. Without it the writes are counted into
// the file COUNT_INTO. Nothing of this is in the program.
'use strict';
const { appendFileSync, promises } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const [wanted = '0', phase = ''] = (process.env['KILL_AT'] ?? '').split(':');
const original = promises.open;
let writes = 0;

promises.open = async (path, ...rest) => {
  const file = await original(path, ...rest);
  if (/[\\/]journals[\\/][^\\/]*\.ndjson$/.test(String(path))) watch(file);
  return file;
};
syncBuiltinESMExports();

/** @param {import('node:fs/promises').FileHandle} file */
function watch(file) {
  const appendFile = file.appendFile.bind(file);
  const datasync = file.datasync.bind(file);
  file.appendFile = async (text) => {
    writes += 1;
    if (process.env['COUNT_INTO']) appendFileSync(process.env['COUNT_INTO'], '.');
    if (isDue('before')) await die();
    if (isDue('torn')) await appendFile(String(text).slice(0, Math.max(1, String(text).length >> 1))).then(die);
    await appendFile(text);
    if (isDue('unsynced')) await die();
  };
  file.datasync = async () => {
    await datasync();
    if (isDue('after')) await die();
  };
}

/** @param {string} now */
function isDue(now) {
  return phase === now && writes === Number(wanted);
}

/** Nothing runs after the signal is sent. */
function die() {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
