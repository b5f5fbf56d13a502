/** The floor: the workloads by hand, as lookup tables with immutable contexts and nothing else. */
import { type Contestant, context, type Workload } from "./workload.ts";

type Row = Readonly<Record<string, readonly [next: string, spends: boolean]>>;

const single: Readonly<
  Record<"lifecycle" | "hierarchy", { first: string; rows: Readonly<Record<string, Row>> }>
> = {
  lifecycle: {
    first: "idle",
    rows: {
      idle: { plan: ["planning", false] },
      planning: { execute: ["executing", true] },
      executing: { reflect: ["reflecting", false] },
      reflecting: { replan: ["planning", false], finish: ["done", false] },
      done: { reset: ["idle", false] },
    },
  },
  hierarchy: {
    first: "outline",
    rows: {
      outline: { next: ["text", false], up: ["short", false], home: ["outline", false] },
      text: { next: ["reading", true], up: ["short", false], home: ["outline", false] },
      reading: { up: ["short", false], home: ["outline", false] },
      short: { down: ["outline", true], home: ["outline", false] },
    },
  },
};

const regions = ["one", "two", "three", "four"];
const spending = new Set(["two", "four"]);

export function table({ name }: Workload): Contestant {
  let now = context;
  const spend = (cost: number) => {
    now = { ...now, spent: now.spent + cost, turns: now.turns + 1 };
  };
  if (name === "parallel") {
    let on: readonly boolean[] = regions.map(() => false);
    return {
      take({ type, data }) {
        on = type === "all" ? on.map(() => false) : on.map((was, index) => was || regions[index] === type);
        if (spending.has(type)) spend(data?.cost ?? 0);
      },
      read: () => now,
    };
  }
  const { first, rows } = single[name];
  let state = first;
  return {
    take({ type, data }) {
      const entry = rows[state]?.[type];
      if (entry === undefined) return;
      state = entry[0];
      if (entry[1]) spend(data?.cost ?? 0);
    },
    read: () => now,
  };
}
