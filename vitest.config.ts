import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Hunts for planted bugs come first: they take longest, and what comes last should be short. */
class HuntsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isHunt = ({ moduleId }: TestSpecification) => moduleId.startsWith(`${import.meta.dirname}/prove/`);
    return [...sorted.filter(isHunt), ...sorted.filter((file) => !isHunt(file))];
  }
}

export default defineConfig({
  resolve: { conditions: ["holdfast-source"] },
  ssr: { resolve: { conditions: ["holdfast-source"] } },
  test: {
    // No test is about time; these only end one that hangs, on however slow a machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Many wait for servers and processes more than they compute, so there is one more of them than there are cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: HuntsFirst },
    globalSetup: ["test/postgres/setup.ts", "test/lanes.ts"],
    // What a person sees is tested in a browser, by a stage of its own.
    exclude: ["**/node_modules/**", "test/e2e/**"],
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts", "prove/**/*.test.ts"],
    coverage: {
      provider: "v8",
      // What a person sees is tested in a browser, by a stage of its own.
      exclude: ["**/node_modules/**", "test/e2e/**"],
      include: ["src/core/**/*.ts"],
      reporter: ["text-summary"],
      // What no test can reach has no place in the core.
      thresholds: { "src/core/*.ts": { branches: 100 } },
    },
  },
});
