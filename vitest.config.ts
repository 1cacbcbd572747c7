import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Tests hold no state in modules and mock none, so files share a process: a process for each took a third of the CPU time.
    isolate: false,
    // A busy machine can be five times slower than a quiet one, where no test takes more than 8 s.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'source', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**'] },
      },
      {
        extends: true,
        // Only these run the built program, so only they ask for a build.
        test: { name: 'program', include: ['test/e2e/**/*.test.ts'], globalSetup: ['test/e2e/built.ts'] },
      },
    ],
  },
});
