/**
 * What every contestant does. A workload is a cycle of events that ends where it began, so that it can go on for ever;
 * `check` looks at where a contestant stands after whole cycles, so that none can be fast by doing nothing.
 */
export interface Workload {
  readonly name: "lifecycle" | "hierarchy" | "parallel";
  readonly says: string;
  readonly cycle: readonly { readonly type: string; readonly data?: { readonly cost: number } }[];
}

/** Context at the start of every workload, and how many updates one cycle makes. */
export const context = { goal: "compare two papers", spent: 0, turns: 0, notes: [] as readonly string[] };

export const workloads: readonly Workload[] = [
  {
    name: "lifecycle",
    says: "5 states of an agent, 8 events, a guard and an update on the way",
    cycle: [
      { type: "plan" },
      { type: "execute", data: { cost: 3 } },
      { type: "reflect" },
      { type: "replan" },
      { type: "execute", data: { cost: 2 } },
      { type: "reflect" },
      { type: "finish" },
      { type: "reset" },
    ],
  },
  {
    name: "hierarchy",
    says: "3 levels, 6 events, some handled by an ancestor, an update on two of them",
    cycle: [
      { type: "next" },
      { type: "next", data: { cost: 1 } },
      { type: "up" },
      { type: "down", data: { cost: 1 } },
      { type: "next" },
      { type: "home" },
    ],
  },
  {
    name: "parallel",
    says: "4 regions, 5 events, one of them taken by all regions at once, an update on two",
    cycle: [
      { type: "one" },
      { type: "two", data: { cost: 1 } },
      { type: "three" },
      { type: "four", data: { cost: 1 } },
      { type: "all" },
    ],
  },
];

/** A contestant ready to run: takes one event, and tells what it has spent and how often it was turned. */
export interface Contestant {
  take(event: Workload["cycle"][number]): void;
  read(): { readonly spent: number; readonly turns: number };
}

/** Throws unless the contestant did exactly the work of so many cycles. */
export function check(contestant: Contestant, workload: Workload, cycles: number): void {
  const cost = workload.cycle.reduce((sum, { data }) => sum + (data?.cost ?? 0), 0);
  const costs = workload.cycle.filter(({ data }) => data !== undefined).length;
  const { spent, turns } = contestant.read();
  if (spent !== cost * cycles || turns !== costs * cycles) {
    throw new Error(
      `${workload.name}: expected ${cost * cycles} spent in ${costs * cycles} turns, got ${spent} in ${turns}`,
    );
  }
}
