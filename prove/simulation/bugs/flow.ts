/** Bugs of flow control: slots, keys, rates and whose turn it is. */
import type { Bug } from "./bug.ts";

export const flowBugs: readonly Bug[] = [
  {
    name: "one more of a key than may be under way",
    file: "src/runtime/flow/concurrency.ts",
    find: "isFree: () => this.#used < limit,",
    replace: "isFree: () => this.#used <= limit,",
    also: [
      {
        file: "src/runtime/flow/concurrency.ts",
        find: "return this.#used < this.#limitMax;",
        replace: "return this.#used <= this.#limitMax;",
      },
    ],
    catches: [31],
    from: 23,
  },
  {
    name: "slot given back when its attempt begins",
    file: "src/runtime/activity/attempts.ts",
    find: "            timed?.begun();\n",
    replace: "            timed?.begun();\n            slot.leave();\n",
    catches: [31],
    from: 23,
  },
  {
    name: "one more under way than there are slots",
    file: "src/runtime/flow/flow.ts",
    find: "while (this.#used < this.#slots) {",
    replace: "while (this.#used <= this.#slots) {",
    catches: [31],
    from: 23,
  },
  {
    name: "window of a rate too short",
    file: "src/runtime/flow/rate.ts",
    find: "return start === undefined ? now : start + perMs;",
    replace: "return start === undefined ? now : start + perMs * 0.9;",
    catches: [31],
    from: 47,
  },
  {
    name: "rate begins anew with each process",
    file: "src/runtime/flow/rate.ts",
    find: "const chunks = known ?? [{ count: this.#limitMax, until: now }];",
    replace: "const chunks = (known ?? [{ count: this.#limitMax, until: now }]).slice(0, 0);",
    catches: [31],
    from: 101,
  },
  {
    name: "what waits for a rate not told when it may begin",
    file: "src/runtime/flow/rate.ts",
    find: "this.#stopTimer = undefined;\n      this.#freed(this);",
    replace: "this.#stopTimer = undefined;",
    catches: [8],
    from: 101,
  },
  {
    name: "what is urgent goes last",
    file: "src/runtime/flow/fair-queue.ts",
    find: "one.arrival < other.arrival : one.priority > other.priority;",
    replace: "one.arrival < other.arrival : one.priority < other.priority;",
    catches: [31],
    from: 12,
  },
];
