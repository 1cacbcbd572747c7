import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lineIn, summedLine } from '../../src/store/disk/records.ts';

/** No system gives out a number like this. */
const nobody = 999_999_999;

/** The tests are one process, which lives on: after this, what its runs left is that of a process that is gone. */
export function endProcess(home: string): void {
  const folder = join(home, '.local/state/chatelaine/locks');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (!statSync(file).isFile()) continue;
    const [first = '', ...lines] = readFileSync(file, 'utf8').split('\n');
    const ended = first.replaceAll(`"pid":${process.pid},`, `"pid":${nobody},`);
    const { json } = lineIn(ended);
    const head = name.endsWith('.run') && json ? summedLine(json.value as object).trimEnd() : ended;
    writeFileSync(file, [head, ...lines].join('\n'));
  }
}
