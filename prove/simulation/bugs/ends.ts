/** Bugs of what comes at the end of a run: undoing, limits, parking and dead letters. */
import { type Bug, noGuard } from "./bug.ts";

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
    from: 600,
  },
  {
    name: "a step of undoing skipped",
    file: "src/core/compensation.ts",
    find: "return steps.shift() as Compensation;",
    replace: "return (steps.length > 2 ? steps.splice(0, 2)[0] : steps.shift()) as Compensation;",
    catches: [23],
  },
  {
    name: "refused result lost",
    file: "src/runtime/checkpoint.ts",
    find: 'if (step.outcome === "refused" && settles(event)) this.#park(step, at);',
    replace: 'if (step.outcome === "refused" && settles(event) && at % 2 === 0) this.#park(step, at);',
    catches: [26],
  },
  {
    name: "run that comes back not given the result",
    file: "src/runtime/checkpoint.ts",
    find: "if (again !== undefined) this.outbox.send(this.head, this.head.run, again, at);",
    replace: "",
    catches: [4],
  },
  {
    name: "run that comes back not taken up",
    file: "src/runtime/publish.ts",
    find: "      void runs.revive(run);\n",
    replace: "",
    catches: [8],
  },
  {
    name: "events for a parked run taken",
    file: "src/runtime/handle.ts",
    find: 'if (run.head.status !== "active" || run.more || !this',
    replace: "if (hasEnded(run) || run.more || !this",
    also: [noGuard],
    catches: [26],
  },
  {
    name: "turn goes on after the run is parked",
    file: "src/runtime/step-loop.ts",
    find: "run.inbox.length > 0 && checkpoint.head.status === run.head.status;",
    replace:
      'run.inbox.length > 0 && (checkpoint.head.status === run.head.status || checkpoint.head.status === "parked");',
    catches: [26],
  },
  {
    name: "end of an activity lost while its run is parked",
    file: "src/runtime/settling.ts",
    find: 'if (run.head.status === "parked") return false;',
    replace: 'if (run.head.status === "parked") return true;',
    catches: [6, 8],
  },
  {
    name: "parked time not told to timers",
    file: "src/runtime/take-step.ts",
    find: "[{ from: parkedAt, until: options.at }]",
    replace: "[{ from: parkedAt, until: parkedAt }]",
    catches: [4],
  },
  {
    name: "dead letter removed before it is sent again",
    file: "src/runtime/dead-letters.ts",
    find: "const [outcome] = await this.#world.store.enqueue([again]);",
    replace:
      "await this.#world.store.removeDeadLetter(row.tenant, number);\n    const [outcome] = await this.#world.store.enqueue([again]);",
    catches: [1],
  },
  {
    name: "dead letter sent again without a key",
    file: "src/runtime/dead-letters.ts",
    find: "const again = { ...event, key: row.key ?? row.id,",
    replace: 'const again = { ...event, id: row.id + " again",',
    catches: [1, 16],
  },
  {
    name: "events that wait for a run that ends not kept",
    file: "src/store/memory/store.ts",
    find: '      lose(this.#tables, row, "ended");\n    }\n    run.inbox.clear();',
    replace: "    }\n    run.inbox.clear();",
    catches: [1],
  },
];
