'use strict';
// Required before the program: at its end, writes the files that were loaded to the fourth stream, as JSON.
const { writeSync } = require('node:fs');

process.on('exit', () =>
  writeSync(3, JSON.stringify(Object.keys(require.cache).filter((file) => file !== __filename))),
);
