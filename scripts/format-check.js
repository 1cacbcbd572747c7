// The gate `format`: prettier judges only what oxfmt would change. Both write nearly every file alike, and oxfmt
// reads all of them in a second of CPU time, where prettier takes more than fifteen.
import { spawnSync } from 'node:child_process';

const files = differingFromOxfmt() ?? ['.'];
if (files.length > 0) {
  const prettier = ['--max-semi-space-size=64', 'node_modules/prettier/bin/prettier.cjs'];
  const words = [...prettier, '--check', '--ignore-unknown', ...files];
  process.exitCode = spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 1;
}

/** Undefined where oxfmt has no program for this system, or cannot read a file. */
function differingFromOxfmt() {
  const words = ['node_modules/oxfmt/bin/oxfmt', '--config', '.prettierrc.json', '--list-different', '.'];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return [];
  const names = stdout.split('\n').filter((line) => line !== '');
  return status === 1 && names.length > 0 ? names : undefined;
}
