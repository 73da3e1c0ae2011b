import { defineConfig } from 'vitest/config';

// chDB crashes when a worker thread that loaded it exits, so every project runs in forks.
const shared = { pool: 'forks' as const, testTimeout: 30_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/features/**', 'test/e2e/**', 'test/bench/**'],
        },
      },
      {
        test: { ...shared, name: 'features', include: ['test/features/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
