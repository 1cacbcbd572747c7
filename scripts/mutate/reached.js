// Loaded before the tests (`node --import`): a probe notes which test file reaches which mutant.
import { appendFileSync } from 'node:fs';

const notes = process.env['CHATELAINE_MUTATE_NOTES'];
const noted = new Set();
/** @type {{ reached?: (id: number) => void, __vitest_worker__?: { filepath?: string } }} */
const globals = Object(globalThis);

globals.reached = (id) => {
  const file = globals.__vitest_worker__?.filepath;
  const note = `${id} ${file}\n`;
  if (notes === undefined || file === undefined || noted.has(note)) return;
  noted.add(note);
  appendFileSync(notes, note);
};
