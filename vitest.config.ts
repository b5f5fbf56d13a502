import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    // No test is about time; this only ends one that hangs, on however slow a machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ["test/postgres/setup.ts", "test/lanes.ts"],
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts", "prove/**/*.test.ts"],
    coverage: {
      provider: "v8",
      include: ["src/core/**/*.ts"],
      reporter: ["text-summary"],
      // What no test can reach has no place in the core.
      thresholds: { "src/core/*.ts": { branches: 100 } },
    },
  },
});
