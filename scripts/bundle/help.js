import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { guideTexts } from '../manual.js';

/** The width of a pipe and of the usual terminals (src/cli/help.ts). */
const width = 80;

/**
 * Writes the texts of help beside the program, so that the launcher can answer without it: each text after a form
 * feed and the words of its command.
 * @returns {import('rolldown').Plugin}
 */
export function help() {
  return {
    name: 'help',
    async writeBundle(options) {
      const dir = resolve(options.dir ?? '');
      const { loadChunk } = createRequire(import.meta.url)(join(dir, 'launch.cjs'));
      const { helpTexts } = loadChunk(dir, 'help.cjs');
      const guides = Object.entries(await guideTexts()).map(([word, text]) => [`help ${word}`, text]);
      const texts = [...(await helpTexts(width)), ...guides].map(([words, text]) => `\f${words}\n${text}`);
      writeFileSync(join(dir, 'help.txt'), texts.join(''));
    },
  };
}
