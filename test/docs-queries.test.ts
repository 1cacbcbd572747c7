import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from './helpers/needs.ts';
import { emptyHome, openSandbox } from './helpers/run.ts';

test('the line for jq of docs/archive-format.md finds the messages of a sender', needs('jq'), async () => {
  const line = /^jq .*$/m.exec(readFileSync('docs/archive-format.md', 'utf8'))?.[0] ?? '';
  const { run } = await openSandbox();
  const folder = join(emptyHome(), 'archive');
  await run(`archive pull ${folder} --channel general --raw-content`);

  const found = execFileSync('sh', ['-c', line.replaceAll('DIR', folder)], { encoding: 'utf8' })
    .trim()
    .split('\n');

  const lines = readFileSync(join(folder, 'source-000001.ndjson'), 'utf8').trim().split('\n');
  expect(found).toHaveLength(lines.filter((text) => text.includes('"sender_id":11,')).length);
  expect(found.every((text) => (JSON.parse(text) as { sender_id: number }).sender_id === 11)).toBe(true);
});
