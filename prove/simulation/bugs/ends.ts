/** Bugs of what comes at the end of a run: undoing, limits, parking and dead letters. */
import type { Bug } from "./bug.ts";

export const endBugs: readonly Bug[] = [
  {
    name: "undone in the order of doing",
    file: "src/core/work.ts",
    find: "steps: freeze(compensations.toReversed())",
    replace: "steps: freeze([...compensations])",
    catches: [23],
  },
  {
    name: "undone twice",
    file: "src/core/work.ts",
    find: "    this.compensations = undefined;\n    if (compensations",
    replace: "    if (compensations",
    catches: [23],
  },
  {
    name: "not undone when a limit ends the run",
    file: "src/core/step.ts",
    find: "if (input !== undefined && !judged)",
    replace: 'if (input !== undefined && status === "cancelled")',
    catches: [23],
  },
  {
    name: "undoing stops with its run",
    file: "src/core/step.ts",
    find: "work.cancelChildren(({ machine }) => machine !== compensation);",
    replace: "work.cancelChildren(() => true);",
    catches: [23],
  },
  {
    name: "a step of undoing skipped",
    file: "src/core/compensation.ts",
    find: "return steps.shift() as Compensation;",
    replace: "return (steps.length > 2 ? steps.splice(0, 2)[0] : steps.shift()) as Compensation;",
    catches: [23],
  },
];
