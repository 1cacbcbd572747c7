import { defineConfig } from 'vitest/config';
export default defineConfig({ test: { pool: 'forks', maxWorkers: 2, testTimeout: 120000, setupFiles: ['./prof-setup.mjs'], include: ['test/**/*.test.ts'] } });
