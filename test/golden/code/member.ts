/**
 * A member of a fleet in a process of its own, with whichever Holdfast it is given, which is told by messages what to do.
 * What its activity does is noted in a file outside of any store.
 */
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import pg from "pg";

type Holdfast = Pick<typeof import("../../../src/index.ts"), "createRuntime" | "defineMachine"> &
  Pick<typeof import("../../../src/store/postgres/store.ts"), "postgres">;

/** What a member is told to do, of a run where it is about one. */
export interface Task {
  readonly id: number;
  readonly verb: "start" | "note" | "pay" | "finish" | "members" | "drain" | "close";
  readonly run?: string;
  readonly data?: number;
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  /** The code of an error instead. */
  readonly code?: string;
}

export interface MemberOptions {
  /** Where the code is that it runs: the sources, or a bundle. */
  readonly code: readonly string[];
  readonly url: string;
  /** The versions of its machine that it knows. */
  readonly versions: readonly number[];
  readonly ledger: string;
}

const { code, url, versions, ledger } = JSON.parse(process.argv[2] ?? "") as MemberOptions;
const parts = await Promise.all(code.map((path) => import(path) as Promise<Holdfast>));
const { createRuntime, defineMachine, postgres } = Object.assign({}, ...parts) as Holdfast;

/** An order takes notes and is paid once. From version 2 on it may also be voided. */
const orderOf = (version: number) =>
  defineMachine<{ notes: number[] }>({
    id: "order",
    version,
    start: { notes: [] },
    initial: "open",
    states: {
      open: {
        on: {
          note: { update: (draft, { event }) => void draft.notes.push(event.data as number) },
          pay: "paying",
          ...(version > 1 && { void: "voided" }),
        },
      },
      paying: {
        invoke: { activity: "charge", concurrency: { limit: 2, key: "bank" }, onDone: "paid" },
      },
      paid: { type: "final", output: ({ context }) => context.notes },
      ...(version > 1 && { voided: { type: "final" as const } }),
    },
  });

const charge = async (_: unknown, { run }: { readonly run: string }) => {
  appendFileSync(ledger, `${run}\n`);
  await setTimeout(20);
};
const orders = versions.map(orderOf);
const tell = (answer: Answer) => void process.send?.(answer);
const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error);
// The package is found from here, wherever the code is.
const pool = new pg.Pool({ connectionString: url });
const runtime = await createRuntime({
  store: postgres(pool),
  machines: orders.map((machine) => ({ machine, activities: { charge } })) as never,
}).catch((error: unknown) => {
  tell({ id: 0, code: codeOf(error) });
  process.disconnect();
  throw error;
});

async function perform({ verb, run: id = "", data }: Task): Promise<unknown> {
  if (verb === "start") return (await runtime.start(orders.at(-1) as never, { id })).id;
  if (verb === "members") return runtime.members().length;
  if (verb === "drain") return runtime.drain("30s");
  if (verb === "close") return runtime.close().then(() => pool.end());
  const run = await runtime.run(id);
  if (verb === "finish") return { ...(await run.finished()), version: (await run.head()).version };
  return (await (await run.send(verb, data)).handled()).outcome;
}

process.on("message", (task: Task) => {
  perform(task).then(
    (value) => tell({ id: task.id, value }),
    (error: unknown) => tell({ id: task.id, code: codeOf(error) }),
  );
});
tell({ id: 0 });
