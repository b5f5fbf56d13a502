/**
 * A member of a fleet of Holdfast, in a process of its own, told what to do by whoever started it. `member.ts URL idle` never
 * comes to an end with an errand: it is the one that will be killed. `member.ts URL client` sees to no runs.
 */
import { setTimeout as wait } from "node:timers/promises";
import { createRuntime, defineMachine } from "holdfast";
import { postgres } from "holdfast/postgres";
import { counter } from "./holdfast.ts";
import { eachAfterTheOther } from "./workload.ts";

/** What a member can be told to do. */
export type Order =
  | { readonly order: "meet"; readonly members: number }
  | { readonly order: "start"; readonly machine: "counter" | "errand"; readonly runs: readonly string[] }
  | { readonly order: "take"; readonly runs: readonly string[]; readonly steps: number }
  | { readonly order: "count"; readonly runs: readonly string[] }
  | { readonly order: "close" };

export type Kind = "busy" | "idle" | "client";

/** How an order ended: who is there, how long each step took, or how many steps each run has taken. */
export interface Answer {
  readonly members?: ReturnType<typeof runtime.members>;
  readonly laps?: readonly number[];
  readonly counts?: readonly number[];
}

/** What it tells: the end of each order, and where errands are. */
export type News =
  | ({ readonly news: "done" } & Answer)
  | { readonly news: "out" | "back"; readonly run: string };

const [url = "", kind] = process.argv.slice(2) as [string?, Kind?];
const tell = (news: News): void => void process.send?.(news);

/** An errand goes on, once what it waits for has come: so whoever takes it up can be seen to have brought it further. */
const errand = defineMachine({
  id: "errand",
  start: {},
  initial: "out",
  states: {
    out: { invoke: { activity: "walk", onDone: "back" } },
    back: { invoke: { activity: "arrive", onDone: "home" } },
    home: { type: "final" },
  },
});

const runtime = await createRuntime({
  store: postgres(url),
  ...(kind === "client" && { role: "client" }),
  machines: [
    { machine: counter as never },
    {
      machine: errand as never,
      activities: {
        walk: async (_input, { run }) => {
          tell({ news: "out", run });
          if (kind === "idle") await new Promise(() => {});
          return null;
        },
        arrive: async (_input, { run }) => {
          tell({ news: "back", run });
          return null;
        },
      },
    },
  ],
});

const orders: { readonly [Name in Order["order"]]: (order: Order & { order: Name }) => Promise<Answer> } = {
  async meet({ members }) {
    while (runtime.members().length < members) await wait(20);
    return { members: runtime.members() };
  },
  async start({ machine, runs }) {
    const started = machine === "counter" ? counter : errand;
    await Promise.all(runs.map((id) => runtime.start(started as never, { id } as never)));
    return {};
  },
  async take({ runs, steps }) {
    const laps: number[] = [];
    await Promise.all(
      runs.map(async (id) => {
        const run = await runtime.run(id);
        await eachAfterTheOther(
          steps,
          (ms) => laps.push(ms),
          // An event for a run that another member sees to is durable before it is taken.
          async () => (await run.send("add")).handled(),
        );
      }),
    );
    return { laps };
  },
  async count({ runs }) {
    const counts = runs.map(async (id) => {
      const { context } = await (await runtime.run(id)).state();
      return (context as unknown as { readonly n: number }).n;
    });
    return { counts: await Promise.all(counts) };
  },
  async close() {
    await runtime.close();
    process.disconnect?.();
    return {};
  },
};

process.on("message", async (order: Order) => {
  const answer = await orders[order.order](order as never);
  if (process.connected) tell({ ...answer, news: "done" });
});
tell({ news: "done" });
