import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { built, changedSinceBuild } from '../../scripts/built.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** XDG_CACHE_HOME of the programs that tests start: one code cache, where each home would make its own. */
    readonly caches: string;
  }
}

/** What these tests run is the built program: an old one would prove nothing about the sources. */
export default function setup(project: TestProject): () => void {
  const newer = changedSinceBuild();
  if (newer === undefined) throw new Error(`there is no ${built}: run \`npm run build\` first, or \`npm test\``);
  if (newer.length > 0)
    throw new Error(`${newer.join(', ')} changed after ${built}: run \`npm run build\` first, or \`npm test\``);
  const caches = mkdtempSync(join(tmpdir(), 'chatelaine-caches-'));
  project.provide('caches', caches);
  return () => rmSync(caches, { recursive: true, force: true });
}
