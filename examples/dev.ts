/**
 * What `npm run survive` runs: the example agents with a scripted model, and parcels on their way, so that there is something to
 * look at, to approve, to stop and to take back. Everything here is offline and pretends to take time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime } from "holdfast";
import { researcherWith } from "./agents/research.ts";
import { supportWith } from "./agents/support.ts";
import { delivery } from "./delivery.ts";

const pace = { onWord: () => sleep(90) };
const researcher = researcherWith(pace);
const support = supportWith(pace);

const activities = {
  pack: async ({ parcels }: { parcels: number }, { key }: { key: string }) => {
    await sleep(400 + 300 * parcels);
    if (Math.random() < 0.35) throw new Error("The tape has run out");
    return { label: `HF-${key.replaceAll(/\W/g, "-")}` };
  },
};

export default [researcher, support, { machine: delivery, activities }];

/** How many runs are begun in all: enough for an afternoon. */
const runsMax = 2_000;

/** Begins runs and moves them, until it is told to stop. */
export function dev(runtime: Runtime, signal: AbortSignal): void {
  const rest = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  void ask(runtime).catch(() => {});
  void (async () => {
    for (let n = 1; n <= runsMax && !signal.aborted; n++) {
      const id = `${delivery.id}-${Date.now().toString(36)}`;
      void deliver(runtime, id, rest).catch(() => {});
      if (n % 4 === 1) void research(runtime, `research-${Date.now().toString(36)}`).catch(() => {});
      await rest(3_000);
    }
  })();
}

/** Somebody wants money back, and the agent asks for leave: that waits in the inbox. */
async function ask(runtime: Runtime): Promise<void> {
  for (const [user, euros] of [
    ["bob", 30],
    ["cleo", 75],
  ] as const) {
    const thread = await runtime.thread(support, { id: `support-${user}`, user });
    const { context } = await thread.run.state();
    if (context.turn.number > 0) continue;
    for await (const part of thread.say(`The boots leak. I want my ${euros} euros back.`))
      if (part.type === "approval") break;
  }
}

const questions = [
  "How does kelp hold on to rocks?",
  "What gives way in a storm?",
  "And how strong is that?",
];

async function research(runtime: Runtime, id: string): Promise<void> {
  const thread = await runtime.thread(researcher, { id, user: "ada" });
  for (const question of questions) await thread.say(question).answer();
  await thread.run.send("close");
}

const places = ["the ferry", "the harbour", "the hill", "the last corner"];

async function deliver(runtime: Runtime, id: string, rest: (ms: number) => Promise<unknown>): Promise<void> {
  const parcels = 1 + Math.floor(Math.random() * 4);
  const run = await runtime.start(delivery, { id, input: { to: "Ada", parcels }, attributes: { parcels } });
  await run.waitFor("travelling");
  for (const place of places) {
    await rest(1_000 + Math.random() * 4_000);
    await run.send("moved", { place });
  }
  await run.send(Math.random() < 0.1 ? "lost" : "signed");
}
