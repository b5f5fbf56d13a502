import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  resolve: { conditions: ["holdfast-source"] },
  ssr: { resolve: { conditions: ["holdfast-source"] } },
  test: {
    // One browser and one server for all of them: more would only make each other slow.
    fileParallelism: false,
    // These only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/e2e/setup.ts"],
    include: ["test/e2e/**/*.test.ts"],
  },
});
