import { expect, test } from 'vitest';
import { launch } from '../helpers/launch.ts';

const shown = async (word: string): Promise<string> => {
  const { stdout } = await launch(process.execPath, ['bin/chatelaine.cjs', 'help', word], { env: { PATH: '' } });
  return stdout;
};

test.each([
  ['scripting', 'chatelaine-scripting(7): ', 'GITHUB ACTIONS'],
  ['never-two', 'chatelaine-never-two(7): ', 'WHAT IS NOT PROMISED'],
  ['stability', 'chatelaine-stability(7): ', 'WHAT MAY CHANGE'],
  ['exit-codes', 'chatelaine-exit-codes(7): ', 'WHAT TO DO'],
  ['accessibility', 'chatelaine(1): ', 'SCREEN READERS'],
  ['containers', 'chatelaine-scripting(7): ', 'IN A CONTAINER'],
  ['recipes', 'chatelaine-scripting(7): ', 'NIGHTLY BACKUP'],
  ['cron', 'chatelaine-scripting(7): ', 'CRON'],
  ['retention', 'chatelaine-scripting(7): ', 'TWO YEARS, AND NO LONGER'],
])('help %s shows the page itself, on a machine without man', async (word, begin, chapter) => {
  const text = await shown(word);
  expect(text.startsWith(begin)).toBe(true);
  expect(text.split('\n')).toContain(chapter);
  expect(text).not.toMatch(/<!--|\\f|\n\.[A-Z]/);
});
