// `node scripts/release/publish.js`: publishes the tarball of the folder `release`, with its provenance. What the
// registry has already, with the same sum, is left alone, so that the job can be run again; with another sum it is an
// error.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { showUsage } from '../usage.js';

showUsage(import.meta.filename);
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const tarball = `release/${name}-${version}.tgz`;
const ours = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;

const seen = npm('view', `${name}@${version}`, 'dist.integrity');
const theirs = seen.stdout.trim();
if (seen.status !== 0 && !/\bE404\b/.test(seen.stderr)) stop(seen.stderr);
else if (theirs === ours) console.log(`${name} ${version} is there already, with the same sum`);
else if (theirs !== '') stop(`${name} ${version} is there already, with another sum: ${theirs}, not ${ours}\n`);
else publish();

function publish() {
  const { status, stdout, stderr } = npm('publish', `./${tarball}`, '--provenance', '--access', 'public');
  process.stdout.write(stdout);
  if (status !== 0) stop(stderr);
}

/** @param {string} why */
function stop(why) {
  process.stderr.write(why);
  process.exitCode = 1;
}

/** @param {readonly string[]} words */
function npm(...words) {
  return spawnSync('npm', words, { encoding: 'utf8' });
}
