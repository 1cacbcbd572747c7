'use strict';
// Required before the program: at its end, writes what it took to the fourth stream: CPU time in ms and the most memory in KiB.
const { writeSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, peak: maxRSS }));
});
