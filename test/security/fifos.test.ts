import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { onesFor } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, runAlone, type Ran } from '../helpers/run.ts';

const pull = '--sandbox archive pull {home}/kept --channel firmware --files';
const apply = '--sandbox license apply - --input-format csv --yes';

/** What reads the files of a folder. */
const readers: readonly (readonly [folder: RegExp, lines: readonly string[]])[] = [
  [/^\.config\//, ['auth use prod', 'auth token prod']],
  [/^kept\//, ['archive verify {home}/kept', pull, 'archive export {home}/kept -o csv']],
  [/^\.local\//, [apply]],
];

function runIn(home: string, line: string): Promise<Ran> {
  const stdin = line === apply ? 'remote_user,size_allowance\nada,3\n' : 'the-key\n';
  return runAlone(line.replace('{home}', home), { home, stdin });
}

async function filledHome(): Promise<{ readonly home: string; readonly files: readonly string[] }> {
  const home = emptyHome();
  const login =
    'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --name prod --no-check --api-key-stdin';
  for (const line of [login, pull, apply]) await runIn(home, line);
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(home, name)).isFile() && !name.startsWith('.cache'))
    .sort();
  return { home, files };
}

test('a FIFO in the place of any file that is read holds no command', needs('shell'), async () => {
  const { home, files } = await filledHome();
  const codes: Record<string, number | null> = {};
  const tried: string[] = [];
  for (const [turn, file] of [...files, '.config/chatelaine/config.lock'].entries()) {
    const [path, kept] = [join(home, file), join(home, 'moved-away')];
    if (existsSync(path)) renameSync(path, kept);
    execFileSync('mkfifo', ['-m', '600', path]);
    for (const line of onesFor(turn, readers.find(([folder]) => folder.test(file))?.[1] ?? [])) {
      const { exitCode: code, stderr } = await runIn(home, line);
      const isNamed = stderr.includes(`${basename(file)} is not a regular file`);
      const name = `${file.replace(/[0-9a-f]{20,}/, 'HASH')}: ${line}`;
      tried.push(name);
      if (code !== 3 || !isNamed) codes[name] = code;
    }
    rmSync(path);
    if (existsSync(kept)) renameSync(kept, path);
  }
  const [config, state] = ['.config/chatelaine', '.local/state/chatelaine'];
  const others = {
    [`${config}/credentials.json: auth use prod`]: 0,
    [`${config}/config.lock: auth token prod`]: 0,
    // What was done is not undone where the history cannot take it.
    [`${state}/history-${new Date().getUTCFullYear()}.ndjson: ${apply}`]: 0,
  };
  expect(codes).toEqual(Object.fromEntries(Object.entries(others).filter(([name]) => tried.includes(name))));
});
