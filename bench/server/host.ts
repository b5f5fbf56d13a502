/** The server that is measured, in a process of its own: SQLite with every commit synced, and questions by messages. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineMachine, freezeStates, type Run } from "../../src/index.ts";
import { createServer, serve } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { patrol } from "./patrol.ts";

export interface HostMessage {
  readonly url: string;
}

type Question =
  | { readonly what: "runs"; readonly count: number }
  | { readonly what: "send"; readonly ms: number; readonly connections: number }
  | { readonly what: "long" | "patrol"; readonly steps: number }
  | { readonly what: "memory" | "step" };

freezeStates(false);

const counter = defineMachine<{ n: number }>({
  id: "counter",
  start: { n: 0 },
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});

const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-server-"));
const store = sqlite(join(folder, "runs.db"));
const runtime = await createRuntime({ store, machines: [counter, patrol] });
const server = await createServer({
  ...{ runtime, store, dev: { token: "bench" }, rate: { perSecond: 1e9, burst: 1e9 } },
  streams: { perPrincipal: 10_000 },
  studio: join(import.meta.dirname, "../../studio/dist"),
});
const served = await serve(server);
process.send?.({ url: served.url } satisfies HostMessage);

process.on("message", async (question: Question) => {
  process.send?.((await answer(question)) ?? {});
});
process.once("SIGTERM", async () => {
  await served.close(100);
  await runtime.close();
  rmSync(folder, { recursive: true });
  process.exit(0);
});

async function answer(question: Question): Promise<object | undefined> {
  switch (question.what) {
    case "runs":
      for (let index = 0; index < question.count; index++)
        await runtime.start(counter, { id: `run-${index}` });
      return undefined;
    case "send":
      return sendAlone(question.ms, question.connections);
    case "long":
      return makeLong(await runtime.start(counter, { id: "long" }), "add", question.steps);
    case "patrol":
      return makeLong(await runtime.start(patrol, { id: "patrol" }), "tick", question.steps);
    case "memory":
      globalThis.gc?.();
      return { bytes: process.memoryUsage().rss };
    case "step":
      await (await runtime.run("run-0")).send("add");
      return undefined;
  }
}

/** Sends as the load does, without HTTP. */
async function sendAlone(ms: number, connections: number): Promise<object> {
  const until = performance.now() + ms;
  const took: number[] = [];
  const sender = async (run: Run) => {
    for (let from = performance.now(); from < until; ) {
      await run.send("add", 1);
      const now = performance.now();
      took.push(now - from);
      from = now;
    }
  };
  const runs = await Promise.all(
    Array.from({ length: connections }, (_, index) => runtime.run(`run-${index}`)),
  );
  await Promise.all(runs.map(sender));
  took.sort((one, other) => one - other);
  return { perSecond: (took.length / ms) * 1_000, p99: took[Math.floor(took.length * 0.99)] };
}

async function makeLong(run: Pick<Run, "sendAll">, type: string, steps: number): Promise<undefined> {
  const batch = Array.from({ length: 64 }, () => ({ type, data: 1 }));
  for (let made = 1; made < steps; made += batch.length)
    await run.sendAll(batch.slice(0, Math.min(batch.length, steps - made)));
  await (await run.sendAll([])).at(-1)?.handled();
  return undefined;
}
