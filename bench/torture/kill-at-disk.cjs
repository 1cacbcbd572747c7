// Preloaded with `node -r`: kills this process at the nth step that changes files of an archive or makes them durable:
// open, write, sync and rename, each `before` or `after`; a write `torn` has written half. KILL_AT is `n:phase`.
// Without it the steps are counted into the file COUNT_INTO. Nothing of this is in the program.
'use strict';
const { appendFileSync, constants, promises } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const [wanted = '0', phase = ''] = (process.env['KILL_AT'] ?? '').split(':');
const folder = process.env['KILL_IN'] ?? '/';
const { open, rename } = promises;
let steps = 0;

promises.open = async (path, ...rest) => {
  if (!isWatched(path) || isReading(rest[0])) return open(path, ...rest);
  const file = await step(() => open(path, ...rest));
  const [write, writeFile] = [file.write.bind(file), file.writeFile.bind(file)];
  for (const name of /** @type {const} */ (['sync', 'datasync'])) {
    const original = file[name].bind(file);
    file[name] = () => step(original);
  }
  file.write = /** @type {any} */ (
    (/** @type {Buffer} */ bytes, /** @type {number} */ from, /** @type {number} */ length, /** @type {number} */ at) =>
      step(
        () => write(bytes, from, length, at),
        () => write(bytes, from, length >> 1, at),
      )
  );
  file.writeFile = (bytes) =>
    step(
      () => writeFile(bytes),
      () => writeFile(/** @type {Buffer} */ (bytes).slice(0, /** @type {Buffer} */ (bytes).length >> 1)),
    );
  return file;
};
promises.rename = (from, to) => (isWatched(to) ? step(() => rename(from, to)) : rename(from, to));
syncBuiltinESMExports();

/** @param {unknown} path */
function isWatched(path) {
  return String(path).includes(folder);
}

/** @param {unknown} flags */
function isReading(flags = constants.O_RDONLY) {
  const { O_RDWR, O_WRONLY } = constants;
  return typeof flags === 'number' ? (flags & (O_RDWR | O_WRONLY)) === 0 : flags === 'r';
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @param {() => Promise<unknown>} [half]
 * @returns {Promise<T>}
 */
async function step(work, half = work) {
  steps += 1;
  const isDue = steps === Number(wanted);
  if (process.env['COUNT_INTO']) appendFileSync(process.env['COUNT_INTO'], '.');
  if (isDue && phase === 'before') await die();
  if (isDue && phase === 'torn') await half().then(die);
  const result = await work();
  if (isDue && phase === 'after') await die();
  return result;
}

/** Nothing runs after SIGKILL. After another signal, which KILL_WITH names, the program ends by itself. */
function die() {
  const signal = process.env['KILL_WITH'] ?? 'SIGKILL';
  process.kill(process.pid, signal);
  return signal === 'SIGKILL' ? new Promise(() => undefined) : Promise.resolve();
}
