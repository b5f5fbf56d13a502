/** Bugs to plant in the processes that do what clients ask for: what the proof must find. */
import type { Change } from "../simulation/plant.ts";

export interface Bug {
  readonly name: string;
  readonly changes: readonly Change[];
}

const stepLoop = "src/runtime/step-loop.ts";

export const bugs: readonly Bug[] = [
  {
    name: "an-answer-comes-before-its-commit",
    changes: [
      {
        file: stepLoop,
        find: "outcomes = await this.#world.store.commit(commits);",
        replace: `for (const one of checkpoints) this.#world.published(one);
      await new Promise((resolve) => setTimeout(resolve, 10));
      outcomes = await this.#world.store.commit(commits);`,
      },
    ],
  },
  {
    name: "a-state-is-read-that-was",
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
    name: "a-state-is-read-that-is-not-certain-yet",
    changes: [
      {
        file: stepLoop,
        find: "outcomes = await this.#world.store.commit(commits);",
        replace: `for (const one of checkpoints) one.run.state = one.state;
      await new Promise((resolve) => setTimeout(resolve, 10));
      outcomes = await this.#world.store.commit(commits);`,
      },
    ],
  },
  {
    name: "a-repeat-is-done-again",
    changes: [
      {
        file: "src/runtime/checkpoint.ts",
        find: "else if (delivery?.key !== undefined) keys.push({ key: delivery.key, seq });",
        replace: "",
      },
    ],
  },
  {
    name: "of-several-steps-at-once-one-is-forgotten",
    changes: [
      {
        file: "src/runtime/checkpoint.ts",
        find: "run.state = this.state;",
        replace: "if (this.taken.length < 2) run.state = this.state;",
      },
    ],
  },
];

/** The bug of a name. */
export function findBug(name: string): Bug {
  const bug = bugs.find((one) => one.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`There is no bug ${name}; there are ${bugs.map((one) => one.name).join(", ")}`);
}

/** Arguments with which Node runs a script that has this bug in it; none without one. */
export function plantArguments(bug: string | undefined): string[] {
  if (bug === undefined) return [];
  const url = new URL("./planted.ts", import.meta.url);
  url.searchParams.set("bug", findBug(bug).name);
  return ["--import", url.href];
}
