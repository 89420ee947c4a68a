import { defineConfig } from 'vitest/config';

// One browser and one service for each file, one file at a time.
export default defineConfig({
  test: { include: ['tests/**/*.spec.ts'], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000, bail: 1 },
});
