// What cli-table3 measures text by: the width that all of our output is measured by, and no Unicode of its own.
module.exports = require('../../src/output/width.ts').displayWidth;
