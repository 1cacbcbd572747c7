#!/usr/bin/env node
'use strict';
const { existsSync } = require('node:fs');
const { join, resolve } = require('node:path');

const dist = join(__dirname, '../dist');
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  const { version } = require('../package.json');
  print(`${version}\n`);
} else if (argv[0] === '__complete' && existsSync(join(dist, 'complete.cjs'))) {
  require('../dist/complete.cjs').start(argv.slice(1), join(dist, 'commands.json'));
} else if (existsSync(join(dist, 'launch.cjs'))) {
  const { helpText, launch } = require('../dist/launch.cjs');
  const help = helpText(dist, argv);
  if (help === undefined) launch(dist);
  else print(help);
} else {
  const clone = resolve(__dirname, '..');
  const step = existsSync(join(clone, 'node_modules')) ? 'run build' : 'ci';
  process.stderr.write(`chatelaine: the program is not built. Run this first: npm ${step} --prefix ${clone}\n`);
  process.exitCode = 1;
}

/** A full disk is exit 8, a closed pipe none: the table of src/core/failure.ts. */
function print(text) {
  process.stdout.on('error', ({ code, message }) => {
    if (code === 'EPIPE') return;
    process.exitCode = 8;
    process.stderr.write(`chatelaine: The result could not be written: ${message}\n`);
  });
  process.stdout.write(text);
}
