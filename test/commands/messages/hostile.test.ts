import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onesFor, sampleOf } from '../../helpers/extent.ts';
import { openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

/** Content that takes long to render. */
const hostile: Readonly<Record<string, string>> = {
  'a table of wide cells': '<table><tr><td colspan=20000 rowspan=1000000>seen</td></tr></table>'.repeat(5),
  'a table of 20,000 cells': `<table>${`<tr>${'<td>seen</td>'.repeat(100)}</tr>`.repeat(200)}</table>`,
  'one long word': 'seen'.repeat(50_000),
  'tags that are not closed': `seen${'<b>'.repeat(100_000)}`,
  'spoilers in spoilers':
    '<div class="spoiler-content">'.repeat(30) + 'seen'.padEnd(160_000, '<br>x') + '</div>'.repeat(30),
};

test.each(sampleOf(1, Object.entries(hostile)))('%s holds neither a fetch nor an export', async (what, content) => {
  const messages = topicOf('t', [1]).map((message) => ({ ...message, content }));
  const { run } = await openChatServer({ messages });
  const home = emptyHome();
  const folder = join(home, 'kept');
  expect(await run(`archive pull ${folder} --channel id:5 --both`, { home })).toMatchObject({ exitCode: 0 });
  const lines = ['messages fetch -o text', `archive export ${folder} -o html`, 'messages fetch -o table'];
  for (const line of onesFor(Object.keys(hostile).indexOf(what), lines)) {
    const { exitCode, stdout } = await run(line, { home });
    expect({ line, exitCode, isSeen: stdout.includes('seen') }).toEqual({ line, exitCode: 0, isSeen: true });
    expect(stdout.includes('more characters are not shown]')).toBe(content.length > 150_000);
  }
});
