// @ts-nocheck it patches functions of Node.
'use strict';
// Required before test/store/program.ts: ODD_DISK names what this computer's disk does as others do.
const fs = require('node:fs');
const promises = require('node:fs/promises');
const path = require('node:path');
const { syncBuiltinESMExports } = require('node:module');

const odd = new Map((process.env.ODD_DISK ?? '').split(' ').map((word) => word.split('=')));
const { open, rename } = promises;
const refused = (code, syscall) => Object.assign(new Error(`${code}: refused by the test`), { code, syscall });

/** Windows' paths have another separator; nothing else of it is played. */
if (odd.has('windows')) path.sep = '\\';

/** No hard links: the code that a file system answers instead. */
if (odd.has('no-link'))
  fs.linkSync = () => {
    throw refused(odd.get('no-link'), 'link');
  };

/** A name is given twice. */
if (odd.has('loose')) fs.linkSync = (from, to) => fs.copyFileSync(from, to);

/** Another program has each file open for so many renames over it, or while a file beside it ends in `.opened`. */
if (odd.has('held')) {
  let left = Number(odd.get('held'));
  promises.rename = (from, to) => {
    if (!fs.existsSync(to) || left-- <= 0) return rename(from, to);
    return Promise.reject(refused('EPERM', 'rename'));
  };
}

/** What this process has open is not replaced. */
if (odd.has('open-stays')) {
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    const open = fs.readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
    if (open.some((link) => fs.existsSync(link) && fs.readlinkSync(link) === to)) throw refused('EPERM', 'rename');
    return renameSync(from, to);
  };
}

/** Files whose name ends so cannot be removed. */
if (odd.has('kept')) {
  const { unlinkSync } = fs;
  fs.unlinkSync = (file) => {
    if (String(file).endsWith(odd.get('kept'))) throw refused('EPERM', 'unlink');
    unlinkSync(file);
  };
}

/** A handle that appends does not truncate. */
if (odd.has('append-only')) {
  promises.open = async (file, flags, mode) => {
    const handle = await open(file, flags, mode);
    const appends = typeof flags === 'number' ? (flags & fs.constants.O_APPEND) !== 0 : /a/.test(flags ?? '');
    if (appends) handle.truncate = () => Promise.reject(refused('EPERM', 'ftruncate'));
    return handle;
  };
}

/** A folder cannot be synced: the code of that. */
if (odd.has('folder-sync')) {
  promises.open = async (file, flags, mode) => {
    const handle = await open(file, flags, mode);
    if (fs.statSync(file).isDirectory()) handle.sync = () => Promise.reject(refused(odd.get('folder-sync'), 'fsync'));
    return handle;
  };
}

/** No room for a text with that in it, of which the beginning is written. */
if (odd.has('full')) {
  const { appendFileSync } = fs;
  fs.appendFileSync = (file, text) => {
    const isFull = String(text).includes(odd.get('full'));
    appendFileSync(file, isFull ? text.slice(0, 4) : text);
    if (isFull) throw refused('ENOSPC', 'write');
  };
}

syncBuiltinESMExports();
