import { defineConfig } from 'vitest/config';

// One browser and one service for each file, one file at a time.
export default defineConfig({
  test: { include: ['tests/**/*.spec.ts'], fileParallelism: false, testTimeout: 300_000, hookTimeout: 120_000, bail: 1 },
});
