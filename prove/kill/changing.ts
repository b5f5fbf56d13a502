/**
 * The machines of runs that are taken back, forked, moved to other versions, pruned and removed. As with the others,
 * numbers go in, and contexts and journals tell what was made of each.
 *
 * - `path`: walks, and rests with a timer and a tool. It is taken back and forked; its forks end and are removed.
 * - `diary`: long texts, so that its journal has snapshots to be pruned up to.
 * - `shift` and `swap`: a workshop with a tool under way, a timer pending and events deferred, all at once. `shift` is
 *   migrated there and back by hand; of `swap` newer and newer versions are deployed.
 */
import { type ActivityScope, defineMachine, defineMigration, type MachineEntry } from "holdfast";
import { moment } from "./ledger.ts";

export interface Path {
  steps: number[];
  /** Keys of the tool's answers, since the beginning or since where it was taken back to. */
  answers: string[];
  rings: number;
}

export const path = defineMachine<Path>({
  id: "path",
  start: { steps: [], answers: [], rings: 0 },
  initial: "open",
  on: { walk: { update: (draft, { event }) => void draft.steps.push(event.data as number) } },
  states: {
    open: { on: { rest: "resting", end: "over" } },
    resting: {
      defer: ["rest", "end"],
      invoke: {
        activity: "tool",
        onDone: { update: (draft, { event }) => void draft.answers.push(event.data) },
      },
      after: [
        {
          delay: ({ context }) => 2 + (context.steps.length % 7),
          target: "open",
          update: (draft) => void draft.rings++,
        },
      ],
    },
    over: { type: "final" },
  },
});

/** What an edited fork has walked besides. */
export const editedStep = -1;

export interface Diary {
  numbers: number[];
  newest: string;
}

export const diary = defineMachine<Diary>({
  id: "diary",
  start: { numbers: [], newest: "" },
  initial: "open",
  states: {
    open: {
      on: {
        note: {
          update: (draft, { event }) => {
            const { n, text } = event.data as { n: number; text: string };
            draft.numbers.push(n);
            draft.newest = text;
          },
        },
      },
    },
  },
});

interface Shop {
  begun: number[];
  made: number[];
  rang: number[];
}

/** What the odd versions of a workshop keep … */
export interface Workshop extends Shop {
  orders: number[];
  hints: number[];
}

/** … and the even ones, which have it all elsewhere and under other names. */
interface Even {
  shop: Shop;
  demands: number[];
  hints: number[];
}

const timerMs = 6;

function oddWorkshop(id: string, version: number) {
  return defineMachine<Workshop>({
    id,
    version,
    start: { begun: [], made: [], rang: [], orders: [], hints: [] },
    initial: "idle",
    states: {
      idle: {
        on: {
          begin: {
            target: "working",
            update: (draft, { event }) => void draft.begun.push(event.data as number),
          },
          order: { update: (draft, { event }) => void draft.orders.push(event.data as number) },
          hint: { update: (draft, { event }) => void draft.hints.push(event.data as number) },
        },
      },
      working: {
        type: "parallel",
        defer: ["begin", "order", "hint"],
        onDone: "idle",
        states: {
          bench: {
            initial: "crafting",
            states: {
              crafting: {
                invoke: {
                  activity: "craft",
                  id: "craft",
                  input: ({ context }) => context.begun.at(-1) as number,
                  onDone: {
                    target: "crafted",
                    update: (draft, { event }) => void draft.made.push(event.data),
                  },
                },
              },
              crafted: { type: "final" },
            },
          },
          clock: {
            initial: "ticking",
            states: {
              ticking: {
                after: [
                  {
                    delay: timerMs,
                    target: "rung",
                    update: (draft) => void draft.rang.push(draft.begun.at(-1) as number),
                  },
                ],
              },
              rung: { type: "final" },
            },
          },
        },
      },
    },
  });
}

function evenWorkshop(id: string, version: number) {
  return defineMachine<Even>({
    id,
    version,
    start: { shop: { begun: [], made: [], rang: [] }, demands: [], hints: [] },
    initial: "idle",
    states: {
      idle: {
        on: {
          begin: {
            target: "busy",
            update: (draft, { event }) => void draft.shop.begun.push(event.data as number),
          },
          demand: { update: (draft, { event }) => void draft.demands.push(event.data as number) },
          hint: { update: (draft, { event }) => void draft.hints.push(event.data as number) },
        },
      },
      busy: {
        type: "parallel",
        defer: ["begin", "demand", "hint"],
        onDone: "idle",
        states: {
          table: {
            initial: "making",
            states: {
              making: {
                invoke: {
                  activity: "make",
                  id: "craft",
                  input: ({ context }) => context.shop.begun.at(-1) as number,
                  onDone: {
                    target: "made",
                    update: (draft, { event }) => void draft.shop.made.push(event.data),
                  },
                },
              },
              made: { type: "final" },
            },
          },
          watch: {
            initial: "ticking",
            states: {
              ticking: {
                after: [
                  {
                    delay: timerMs,
                    target: "rung",
                    update: (draft) => void draft.shop.rang.push(draft.shop.begun.at(-1) as number),
                  },
                ],
              },
              rung: { type: "final" },
            },
          },
        },
      },
    },
  });
}

const toEven = {
  context: ({ begun, made, rang, orders, hints }: Workshop): Even => ({
    shop: { begun, made, rang },
    demands: orders,
    hints,
  }),
  states: {
    working: "busy",
    "working.bench": "busy.table",
    "working.bench.crafting": "busy.table.making",
    "working.bench.crafted": "busy.table.made",
    "working.clock": "busy.watch",
  },
  // Whoever hinted at something in the old shop is not heard in the new one.
  events: { order: "demand", hint: null },
  activities: { craft: "make" },
} as const;

const toOdd = {
  context: ({ shop, demands, hints }: Even): Workshop => ({ ...shop, orders: demands, hints }),
  states: {
    busy: "working",
    "busy.table": "working.bench",
    "busy.table.making": "working.bench.crafting",
    "busy.table.made": "working.bench.crafted",
    "busy.watch": "working.clock",
  },
  events: { demand: "order" },
  activities: { make: "craft" },
} as const;

export type WorkshopId = "shift" | "swap";

/** A version of a workshop: all odd ones are alike, and so are all even ones. */
export function workshop(id: WorkshopId, version: number) {
  return version % 2 === 1 ? oddWorkshop(id, version) : evenWorkshop(id, version);
}

function migrationTo(id: WorkshopId, version: number) {
  return version % 2 === 0
    ? defineMigration(oddWorkshop(id, version - 1), evenWorkshop(id, version), { ...toEven, back: toOdd })
    : defineMigration(evenWorkshop(id, version - 1), oddWorkshop(id, version), { ...toOdd, back: toEven });
}

/** What a workshop has taken, whatever its version calls it. */
export function workshopLists(version: number, context: object): Workshop {
  return version % 2 === 1 ? (context as Workshop) : toOdd.context(context as Even);
}

/** What a workshop of that version is sent for an order. */
export const orderType = (version: number): string => (version % 2 === 1 ? "order" : "demand");

export interface Tools {
  readonly say: (line: string) => void;
  /** How long a piece of work takes. */
  readonly wait: () => Promise<void>;
}

/** A version of a workshop with its tools and the way there. Runs of `swap` go along with whatever is newest. */
export function workshopEntry(id: WorkshopId, version: number, { say, wait }: Tools): MachineEntry {
  const craft = async (n: never, { key }: ActivityScope) => {
    say(`craft ${key}`);
    await wait();
    return n;
  };
  return {
    machine: workshop(id, version) as never,
    activities: { craft, make: craft },
    ...(id === "swap" ? { evolution: "upgrade" as const } : {}),
    ...(version > 1 ? { migrations: [migrationTo(id, version)] } : {}),
  };
}

/** The two versions that runs of `shift` go between. */
export const shiftVersions = [1, 2] as const;

/** Every machine of this file, the workshops of `swap` up to a version. */
export function changingEntries(tools: Tools, swapVersion: number): MachineEntry[] {
  const tool = (_: never, { key }: ActivityScope) => {
    tools.say(`tool ${key} ${moment()}`);
    return key;
  };
  return [
    { machine: path as never, activities: { tool } },
    { machine: diary as never },
    ...shiftVersions.map((version) => workshopEntry("shift", version, tools)),
    ...Array.from({ length: swapVersion }, (_, index) => workshopEntry("swap", index + 1, tools)),
  ];
}
