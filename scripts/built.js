import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file that a build writes last of all. */
export const built = 'dist/help.txt';
const sources = ['src', 'scripts/bundle', 'rolldown.config.js', 'package-lock.json'];

/**
 * The files that changed after the last build, and the folders that lost one. Undefined where there is no build.
 * @returns {readonly string[] | undefined}
 */
export function changedSinceBuild() {
  const time = changed(built);
  return time === 0 ? undefined : sources.flatMap(placesIn).filter((place) => changed(place) > time);
}

/**
 * @param {string} path
 * @returns {readonly string[]}
 */
function placesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))];
}

/**
 * The time of a file's last change, in milliseconds since 1970; 0 where there is no such file.
 * @param {string} file
 */
function changed(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
