// node scripts/release/page.js: makes the page of the release that TAG names, with the files of the folder `release`.
// A page that is there is left alone, so that the job can be run again. It runs gh, which has to be signed in.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { showUsage } from '../usage.js';

showUsage(import.meta.filename);
const tag = process.env['TAG'] ?? '';
const notes = 'CHANGELOG.md says what changed; SHA256SUMS has the checksums.';
const isThere = gh('ignore', 'view', tag) === 0;
const files = isThere ? [] : readdirSync('release').map((name) => join('release', name));
process.exitCode = isThere ? 0 : gh('inherit', 'create', '--verify-tag', '--notes', notes, tag, ...files);

/**
 * @param {'ignore' | 'inherit'} stdio
 * @param {readonly string[]} words
 */
function gh(stdio, ...words) {
  return spawnSync('gh', ['release', ...words], { stdio }).status ?? 1;
}
