#!/usr/bin/env node
'use strict';
const { version } = require('../package.json');

if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${version}\n`);
} else {
  require('../dist/main.cjs').start(version);
}
