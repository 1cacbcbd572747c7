// @ts-nocheck process.moduleLoadList has no type.
'use strict';
// Required before the program: at its end, writes the names of Node's modules that were loaded to the fourth stream, as
// JSON.
const { writeSync } = require('node:fs');

process.on('exit', () => writeSync(3, JSON.stringify(process.moduleLoadList)));
