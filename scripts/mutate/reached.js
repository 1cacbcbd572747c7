// Loaded before the tests (`node --import`), and before the programs that they start: a probe notes which test file
// reaches which mutant.
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const notes = process.env['CHATELAINE_MUTATE_NOTES'];
const noted = new Set();
/** @type {{ reached?: (id: number) => void, __vitest_worker__?: { filepath?: string } }} */
const globals = Object(globalThis);
/** The test file that runs, here or in the process that started this one. */
const testFile = () => globals.__vitest_worker__?.filepath ?? process.env['CHATELAINE_MUTATE_FILE'];

globals.reached = (id) => {
  const file = testFile();
  const note = `${id} ${file}\n`;
  if (notes === undefined || file === undefined || noted.has(note)) return;
  noted.add(note);
  appendFileSync(notes, note);
};

/** @type {{ spawn: (options: { envPairs: string[] }) => unknown }} */
const starting = Object(ChildProcess.prototype);
const { spawn } = starting;

// A program that is given an environment of its own learns the test file too.
starting.spawn = function (options) {
  const own = {
    CHATELAINE_MUTATE_FILE: testFile(),
    CHATELAINE_MUTATE_NOTES: notes,
    NODE_OPTIONS: process.env['NODE_OPTIONS'],
  };
  const names = Object.keys(own);
  const added = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const others = options.envPairs.filter((pair) => !names.includes(pair.replace(/=.*$/s, '')));
  return spawn.call(this, { ...options, envPairs: [...others, ...added] });
};
