import { defineConfig } from 'vitest/config';
import { isMissing, needs } from './scripts/needs.js';
import { leaveUnfitTemporaryFolder } from './scripts/temporary.js';
import { shippedPackages } from './test/helpers/shipped-packages.js';

// Processes of tests inherit both, whatever those of who runs them are: modes that tests expect, and the language of messages of the system.
process.umask(0o022);
process.env['LC_ALL'] = 'C.UTF-8';
// It goes before the language of all but plain C.
delete process.env['LANGUAGE'];
// Node 20 reads its certificates at each start, which takes longer than the rest of the start.
delete process.env['NODE_EXTRA_CA_CERTS'];
leaveUnfitTemporaryFolder();

export default defineConfig({
  test: {
    pool: 'forks',
    // Local times are of one zone, whatever that of the machine is; `inZone` of test/helpers changes it for a test.
    env: { TZ: 'UTC' },
    // As many as CI has processors: each further one loads and compiles all of src once more.
    maxWorkers: 2,
    // Tests hold no state in modules and mock none, so files share a process: a process for each took a third of the CPU time.
    isolate: false,
    // V8 of Node 20 optimizes what a server would run for days: of the CPU time of tests that is an eighth. That every
    // function is compiled at once, and garbage collected seldom and by one thread, is another twelfth.
    execArgv: process.versions.v8.startsWith('11.')
      ? [
          '--interrupt-budget=1000000',
          '--always-sparkplug',
          '--single-threaded-gc',
          '--min-semi-space-size=32',
          '--max-semi-space-size=32',
        ]
      : [],
    // A busy machine can be ten times slower than a quiet one, where no test takes more than 12 s; a test without these limits says why.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A condition that is waited for has the time of its test: the 1 s of vitest is none on such a machine.
    expect: { poll: { timeout: 170_000 } },
    // What not every computer has: `--tags-filter=postgresql` runs the tests of one.
    tags: needs.map((name) => ({ name, ...(isMissing(name) && { skip: true }) })),
    projects: [
      {
        extends: true,
        plugins: [shippedPackages()],
        test: {
          name: 'source',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          // Not for the program: with it vitest 4.1.12 cannot print what its globalSetup throws.
          experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
        },
      },
      {
        extends: true,
        // Only these run the built program, so only they ask for a build.
        test: { name: 'program', include: ['test/e2e/**/*.test.ts'], globalSetup: ['test/e2e/built.ts'] },
      },
    ],
  },
});
