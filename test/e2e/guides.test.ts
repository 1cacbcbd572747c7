import { expect, test } from 'vitest';
import { launch } from '../helpers/launch.ts';

const shown = async (word: string): Promise<string> => {
  const { stdout } = await launch(process.execPath, ['bin/chatelaine.cjs', 'help', word], { env: { PATH: '' } });
  return stdout;
};

test.each([
  ['scripting', 'chatelaine-scripting(7): ', 'GITHUB ACTIONS'],
  ['exit-codes', 'chatelaine-exit-codes(7): ', 'WHAT TO DO'],
  ['containers', 'chatelaine-scripting(7): ', 'IN A CONTAINER'],
  ['retention', 'chatelaine-scripting(7): ', 'TWO YEARS, AND NO LONGER'],
])('help %s shows the page itself, on a machine without man', async (word, begin, chapter) => {
  const text = await shown(word);
  expect(text.startsWith(begin)).toBe(true);
  expect(text.split('\n')).toContain(chapter);
  expect(text).not.toMatch(/<!--|\\f|\n\.[A-Z]/);
});
