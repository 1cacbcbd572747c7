import { expect, test } from 'vitest';
import type { Show } from '../../src/output/presentation.ts';
import { failing, look, many, written } from './looks.ts';

const show: Show<unknown> = {
  columns: ['user', 'size', 'status', 'license_code'],
  outcome: { by: 'status', nothing: 'unchanged', columns: ['user', 'size', 'status', 'error'] },
};

function markdown(...rows: readonly object[]): Promise<string> {
  return written(many(...rows), look('markdown', { show, conclusions: ['1 to create on a_b.example'] }));
}

test('no name is an attribute list, as Markdown with attributes would have it', async () => {
  const name = 't {: onmouseover=alert(1) }';
  const presentation = look('markdown', { show, conclusions: [name] });
  expect(await written(many({ user: name, size: 4, status: 'create' }), presentation)).toBe(
    '**t \\{: onmouseover=alert(1) \\}**\n\n| user | size | status |\n| --- | --- | --- |\n' +
      `| \`${name}\` | 4 | create |\n`,
  );
});

test('what changes, without keys, empty columns and rows that stay', async () => {
  const text = await markdown(
    { user: 'ada', size: 4, status: 'create', license_code: 'KEY-1' },
    { user: 'grace', size: 4, status: 'unchanged', license_code: 'KEY-2' },
  );

  expect(text).toBe(
    '**1 to create on a\\_b.example**\n\n| user | size | status |\n| --- | --- | --- |\n| `ada` | 4 | create |\n',
  );
});

test('nothing to change', async () => {
  expect(await markdown({ user: 'ada', status: 'unchanged' })).toBe(
    '**1 to create on a\\_b.example**\n\nNothing changes.\n',
  );
});

/**
 * Read back by cmark-gfm 0.29, micromark 4 and marked 17 as the text on the left; on GitHub nothing is a link or
 * mention in code.
 */
test.each([
  ['[x](http://evil.example)', '`[x](http://evil.example)`'],
  ['@all #1 www.evil.example', '`@all #1 www.evil.example`'],
  ['<img src=x onerror=y>', '`<img src=x onerror=y>`'],
  ['a|b', '`a\\|b`'],
  ['a\\|b', '`a\\\\x7cb`'],
  ['a`b', '``a`b``'],
  ['`a``', '``` `a`` ```'],
  ['a\nb\r\u001b[31m\u202e', '`a\\nb\\r\\x1b[31m\\u202e`'],
  [' a', '`  a `'],
  ['x'.repeat(300), `\`${'x'.repeat(300)}\``],
  ['x'.repeat(301), `\`${'x'.repeat(300)}…\``],
])('a cell that says %j is code', async (user, cell) => {
  expect(await markdown({ user, status: 'create' })).toContain(`\n| ${cell} | create |\n`);
});

test('of rows that are as long as a comment may be none is left out', async () => {
  const rows = Array.from({ length: 300 }, () => ({ user: 'x'.repeat(178), status: 'create' }));
  expect(await markdown(...rows)).not.toContain('left out');
  const longer = { user: 'x'.repeat(179), status: 'create' };
  expect(await markdown(...rows.slice(1), longer)).toContain('\n1 more row is left out.\n');
});

test('a plan that is longer than a comment may be is cut, and says so', async () => {
  const rows = Array.from({ length: 2000 }, (_, index) => ({ user: `user-${index}`.padEnd(60), status: 'create' }));
  const text = await markdown(...rows);

  expect(text.length).toBeLessThan(65_536);
  const shown = text.split('\n').filter((line) => line.startsWith('| ` user-')).length;
  expect(text).toContain(`\n${2000 - shown} more rows are left out.\n`);
});

test('rows that end by throwing are a whole document', async () => {
  const rows = failing([{ user: 'ada', status: 'failed', error: 'two' }], new Error('refused'));
  const pieces: string[] = [];
  const { writeResult } = await import('../../src/output/write.ts');
  const sink = { write: (text: unknown) => Promise.resolve(void pieces.push(String(text))) };
  await expect(writeResult({ many: rows }, look('markdown', { show }), sink)).rejects.toThrow('refused');
  expect(pieces.join('')).toContain('| `ada` | failed | `two` |\n');
});
