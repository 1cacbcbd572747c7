import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** XDG_CACHE_HOME of the programs that tests start: one code cache, where each home would make its own. */
    readonly caches: string;
  }
}

/** Written last of all. */
const built = 'dist/help.txt';
const sources = ['src', 'scripts/bundle', 'rolldown.config.js', 'package-lock.json'];

/** What these tests run is the built program: an old one would prove nothing about the sources. */
export default function setup(project: TestProject): () => void {
  const time = changed(built);
  const newer = sources.flatMap(filesIn).filter((file) => changed(file) > time);
  if (time === 0) throw new Error(`there is no ${built}: run \`npm run build\` first, or \`npm test\``);
  if (newer.length > 0)
    throw new Error(`${newer.join(', ')} changed after ${built}: run \`npm run build\` first, or \`npm test\``);
  const caches = mkdtempSync(join(tmpdir(), 'chatelaine-caches-'));
  project.provide('caches', caches);
  return () => rmSync(caches, { recursive: true, force: true });
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
}

/** Milliseconds since 1970; 0 where there is no such file. */
function changed(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
