import { defineConfig } from 'rolldown';

export default defineConfig({
  input: { main: 'src/cli/process.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    cleanDir: true,
  },
});
