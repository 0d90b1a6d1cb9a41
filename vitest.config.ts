import { defaultClientConditions, defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';
// Bundles the Lua scripts, so that a run of vitest alone tests what is in their folder now.
import './packages/mailbox/lua/bundle.mjs';

// Our own packages are read from their sources; only processes that a test spawns run the built `dist`.
const sourceCondition = '@placet/source';

export default defineConfig({
  resolve: { conditions: [sourceCondition, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [sourceCondition, ...defaultServerConditions] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          // Sources, and tests beside them, read no environment; what scales asks by inject('testScale').
          // biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo runs tests
          provide: { testScale: process.env.PLACET_TEST_SCALE === 'full' ? 'full' : 'normal' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/announce-engine.ts'],
          exclude: ['**/node_modules/**', 'test/bench/peers/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
