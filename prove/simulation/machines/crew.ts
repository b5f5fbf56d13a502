/**
 * A crew calls three tools side by side: one that is tried again, one that may act at most once, and one that works its
 * way through pages and keeps its place. Each call can be stopped.
 */
import { defineMachine, defineMigration, type Json, type Machine, type MachineDefinition } from "holdfast";
import type { Kind } from "./kind.ts";

export interface CrewContext {
  readonly answers: readonly Json[];
  readonly errors: readonly Json[];
  readonly unknowns: number;
}

const keepAnswer = (draft: { answers: Json[] }, { event }: { event: { data: Json } }) =>
  void draft.answers.push(event.data);
const keepError = (draft: { errors: Json[] }, { event }: { event: { data: Json } }) =>
  void draft.errors.push(event.data);

/** How each tool is called. */
const calls = {
  fetch: { retry: { attempts: 4, first: 200, max: "2s", never: ["Fatal"] }, timeout: "4s" },
  pay: { once: true, timeout: "20s" },
  crawl: { retry: { attempts: 30, first: 100, max: "1s" }, timeout: "6s" },
} as const;

/** A region that calls a tool whenever it is asked to, and keeps what comes of it. */
export const region = (tool: string, options: object) => ({
  initial: "idle",
  states: {
    idle: { on: { [tool]: "calling" } },
    calling: {
      invoke: {
        activity: tool,
        input: ({ event }: { event: { data?: unknown } }) => event.data as Json,
        ...options,
        onDone: { target: "idle", update: keepAnswer },
        onError: { target: "idle", update: keepError },
        onUnknown: { target: "idle", update: (draft: { unknowns: number }) => void draft.unknowns++ },
      },
      on: { [`stop.${tool}`]: "idle" },
    },
  },
});

const definition: MachineDefinition<CrewContext> = {
  id: "crew",
  start: { answers: [], errors: [], unknowns: 0 },
  // What comes from a call that is over must not get here.
  on: { "done.invoke.*": { update: keepAnswer }, "error.invoke.*": { update: keepError } } as never,
  type: "parallel",
  states: {
    fetching: region("fetch", calls.fetch),
    paying: region("pay", calls.pay),
    crawling: region("crawl", calls.crawl),
  } as never,
};

export const crewMachine = defineMachine<CrewContext>(definition);

/** Does not pay any more: a crew that is about to cannot become one like that. */
const laterMachine = defineMachine<CrewContext>({
  ...definition,
  version: 2,
  states: {
    fetching: region("fetch", calls.fetch),
    paying: { initial: "idle", states: { idle: {} } },
    crawling: region("crawl", calls.crawl),
  } as never,
});

export const crew: Kind = {
  machine: crewMachine as unknown as Machine,
  runsMax: 2,
  rests: ["fetching.idle", "paying.idle", "crawling.idle"],
  goesBack: true,
  forks: (context) => void (context.answers as Json[]).push("edited"),
  stops: [{ state: "fetching.calling" }, { event: "crawl" }],
  later: {
    machine: laterMachine as unknown as Machine,
    migration: defineMigration(crewMachine, laterMachine, { back: {} }),
  },
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const tool = random.pick(["fetch", "pay", "crawl"]);
    return { type: random.chance(0.2) ? `stop.${tool}` : tool, data: { n } };
  },
};
