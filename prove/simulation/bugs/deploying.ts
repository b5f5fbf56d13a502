/** Bugs of bringing in a new version: who goes there, who stays, and what is said of it. */
import type { Bug } from "./bug.ts";

export const deployingBugs: readonly Bug[] = [
  {
    name: "run upgraded where its machine pins it",
    file: "src/runtime/registry.ts",
    find: 'if (newest?.evolution === "upgrade") this.#upgrades.set(id, newest.machine.version);',
    replace: "if (newest !== undefined) this.#upgrades.set(id, newest.machine.version);",
    catches: [13],
  },
  {
    name: "run that could go left behind by a deploy",
    file: "src/runtime/evolution/deploy.ts",
    find: "for await (const one of evolution.migrateAll(id, options, isBefore))",
    replace: "for await (const one of evolution.migrateAll(id, { ...options, dryRun: true }, isBefore))",
    also: [
      {
        file: "src/runtime/evolution/evolution.ts",
        find: 'if (head.status !== "active" || run.inbox.length > 0) return;',
        replace: 'if (head.status !== "parked" || run.inbox.length > 0) return;',
      },
    ],
    catches: [15],
  },
  {
    name: "version that is refused taken by runs all the same",
    file: "src/runtime/evolution/deploy.ts",
    find: "if (left.length > 0 && !leave) {",
    replace:
      "if (left.length > 0 && !leave) {\n    for await (const one of evolution.migrateAll(id, options)) void one;",
    catches: [15],
    from: 270,
  },
];
