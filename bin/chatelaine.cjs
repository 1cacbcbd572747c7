#!/usr/bin/env node
'use strict';
const { existsSync } = require('node:fs');
const { join, resolve } = require('node:path');
const { version } = require('../package.json');

const main = join(__dirname, '../dist/main.cjs');
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  // A full disk is exit 8, a closed pipe none: the table of src/core/failure.ts.
  process.stdout.on('error', ({ code }) => (process.exitCode = code === 'EPIPE' ? 0 : 8)).write(`${version}\n`);
} else if (existsSync(main)) {
  require(main).start(version);
} else {
  const clone = resolve(__dirname, '..');
  process.stderr.write(`chatelaine: the program is not built. Run this first: npm ci --prefix ${clone}\n`);
  process.exitCode = 1;
}
