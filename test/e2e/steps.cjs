'use strict';
// Required before the program: writes into the file STEPS, in their order, what is synced and read below the folder
// STEPS_IN, and the POST requests that are sent. It changes nothing.
const fs = require('node:fs');
const { Socket } = require('node:net');
const { syncBuiltinESMExports } = require('node:module');

const { STEPS: file = '', STEPS_IN: folder = '' } = process.env;
/** @param {string} step */
const note = (step) => fs.appendFileSync(file, `${step}\n`);
/** @param {unknown} path */
const isWatched = (path) => String(path).includes(folder);
/** @param {unknown} path */
const nameOf = (path) =>
  String(path)
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/^\.(.*)\.[0-9a-f]+\.tmp$/, '$1');

const { open } = fs.promises;
fs.promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  if (!isWatched(path)) return handle;
  for (const name of /** @type {const} */ (['sync', 'datasync'])) {
    const original = handle[name].bind(handle);
    handle[name] = async () => {
      await original();
      note(`sync ${nameOf(path)}`);
    };
  }
  const readFile = handle.readFile.bind(handle);
  handle.readFile = /** @type {any} */ (
    async (/** @type {any} */ ...how) => {
      note(`read ${nameOf(path)}`);
      return readFile(...how);
    }
  );
  return handle;
};
syncBuiltinESMExports();

const { write } = Socket.prototype;
Socket.prototype.write = /** @type {any} */ (
  /** @this {Socket} */
  function (/** @type {any} */ chunk, /** @type {any[]} */ ...rest) {
    const [, path] = /^POST (\S+) /.exec(String(chunk)) ?? [];
    if (path) note(`POST ${path}`);
    return write.call(this, chunk, ...rest);
  }
);
