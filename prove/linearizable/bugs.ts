/** Bugs to plant in the processes that do what clients ask for: what the proof must find. */
import { bugCalled, type Change, importing } from "../simulation/plant.ts";
import type { LaneName } from "./lane.ts";

export interface Bug {
  readonly name: string;
  /** Where it is hunted. */
  readonly lane: LaneName;
  readonly changes: readonly Change[];
}

const stepLoop = "src/runtime/step-loop.ts";

export const bugs: readonly Bug[] = [
  {
    name: "an-answer-comes-before-its-commit",
    lane: "SQLite",
    changes: [
      {
        file: stepLoop,
        find: "const outcomes = await this.#commit(commits);",
        replace: `for (const one of turns) this.#world.published(one);
    await new Promise((resolve) => setTimeout(resolve, 10));
    const outcomes = await this.#commit(commits);`,
      },
    ],
  },
  {
    name: "a-state-is-read-that-was",
    lane: "SQLite",
    changes: [
      {
        file: "src/runtime/handle.ts",
        find: "return (await this.#access.read(this.#name)).state;",
        replace: `const run = await this.#access.read(this.#name);
    const state = run.old ?? run.state;
    setTimeout(() => (run.old = run.state), 3);
    return state;`,
      },
    ],
  },
  {
    name: "what-was-answered-is-written-later",
    lane: "SQLite",
    changes: [
      {
        file: "src/store/sqlite/store.ts",
        find: "statements[begin].run();",
        replace: "if (!database.isTransaction) statements.begin.run();",
      },
      {
        file: "src/store/sqlite/store.ts",
        find: "        statements.commit.run();\n",
        replace: `        this.later ??= setTimeout(() => {
          this.later = undefined;
          if (database.isTransaction) statements.commit.run();
        }, 25);\n`,
      },
    ],
  },
  {
    name: "a-repeat-is-done-again",
    lane: "SQLite",
    changes: [
      {
        file: "src/runtime/turn.ts",
        find: "else if (delivery?.key !== undefined) keys.push({ key: delivery.key, seq });",
        replace: "",
      },
    ],
  },
  {
    name: "of-several-steps-at-once-one-is-forgotten",
    lane: "SQLite",
    changes: [
      {
        file: "src/runtime/turn.ts",
        find: "run.state = this.state;",
        replace: "if (this.taken.length < 2) run.state = this.state;",
      },
    ],
  },
  {
    name: "what-was-done-elsewhere-is-not-seen",
    lane: "fleet",
    changes: [
      {
        file: "src/runtime/live/runs.ts",
        find: "if (!this.#world.standing.isShared) return this.reach(name);",
        replace: "if (name !== undefined) return this.reach(name);",
      },
    ],
  },
];

/** The bug of a name. */
export const findBug = (name: string): Bug => bugCalled(bugs, name);

/** Arguments with which Node runs a script that has this bug in it; none without one. */
export const plantArguments = (bug: string | undefined): string[] =>
  bug === undefined ? [] : importing(new URL("./planted.ts", import.meta.url), findBug(bug).name);
