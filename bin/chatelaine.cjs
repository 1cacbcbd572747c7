#!/usr/bin/env node
'use strict';
const { existsSync, readFileSync, writeSync } = require('fs');
const { join, resolve } = require('path');

const dist = join(__dirname, '../dist');
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8'));
  print(`chatelaine ${version}\n`);
} else if (!isNodeNewEnough()) {
  const needed = 'Node 20.18.1 or later of version 20, or 22.3 and newer';
  const instead = 'Install one of them, or an archive of the release page, which contains Node (README.md, Install).';
  process.stderr.write(
    `chatelaine needs ${needed}; this is ${process.versions.node}, ${process.execPath}\n${instead}\n`,
  );
  process.exitCode = 1;
} else if (argv[0] === '__complete' && existsSync(join(dist, 'complete.cjs'))) {
  print(load('complete.cjs').answer(argv.slice(1), join(dist, 'commands.json')));
} else if (existsSync(join(dist, 'launch.cjs'))) {
  const { helpText, launch } = load('launch.cjs');
  const help = helpText(dist, argv);
  if (help === undefined) launch(dist);
  else print(help);
} else {
  const clone = resolve(__dirname, '..');
  const step = existsSync(join(clone, 'node_modules')) ? 'run build' : 'ci';
  process.stderr.write(`chatelaine: the program is not built. Run this first: npm ${step} --prefix ${clone}\n`);
  process.exitCode = 1;
}

/** Only this file can be read by an older Node. `getBuiltinModule` is in 20.16 and 22.3, and in no version of 21. */
function isNodeNewEnough() {
  const [major, minor, patch] = process.versions.node.split('.').map(Number);
  return typeof process.getBuiltinModule === 'function' && (major - 20 || minor - 18 || patch - 1) >= 0;
}

/** Compiles a file of dist without `require`, which searches for the file in many ways and reads package.json. */
function load(name) {
  const { compileFunction } = require('node:vm');
  const filename = join(dist, name);
  const exports = {};
  compileFunction(readFileSync(filename, 'utf8'), ['exports', 'require'], { filename })(exports, require);
  return exports;
}

/**
 * Writes without process.stdout, which takes longer to make than all the rest here. Only what a full pipe does not take
 * at once goes there.
 */
function print(text) {
  // A console of Windows reads bytes in its own code page; the stream writes characters.
  if (process.platform === 'win32' && require('node:tty').isatty(1)) return void process.stdout.write(text);
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (cause) {
    if (cause.code === 'EAGAIN') process.stdout.on('error', refuse).write(rest);
    else refuse(cause);
  }
}

/** A full disk ends with 8, a closed pipe with 0, as in the table of src/core/failure.ts. */
function refuse({ code, message }) {
  if (code === 'EPIPE') return;
  process.exitCode = 8;
  const [, reason = message] = /^[A-Z]+: (.*), \w+$/.exec(message) ?? [];
  process.stderr.write(`chatelaine: the result could not be written: ${reason}\n`);
}
