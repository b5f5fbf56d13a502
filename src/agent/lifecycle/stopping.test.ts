/** Agents that are stopped or spoken over: what their models had said is kept, from their own stream and from nobody else. */
import { expect, test } from "vitest";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import type { Runtime } from "../../runtime/run.ts";
import type { Model } from "../model/model.ts";
import { textOf } from "../thread/message.ts";
import { type Agent, defineAgent } from "./agent.ts";
import { reportOf } from "./report.ts";
import type { BusyPolicy } from "./stopping.ts";

/** Says a little when it is spoken to first, and goes on for ever; answers whatever is said then. */
const talkative: Model = async ({ messages }, { say, signal }) => {
  const said = messages.filter(({ role }) => role === "user").length;
  if (said > 1) return { parts: [{ type: "text", text: `Heard ${said}.` }] };
  say({ type: "thinking", text: "Hm." });
  say({ type: "text", text: "Once upon" });
  say({ type: "text", text: " a time" });
  return new Promise((_, no) => signal.addEventListener("abort", no));
};

/** The agent, as one that never finds out what it had said. */
const deaf = (agent: Agent): Agent => ({
  ...agent,
  activitiesOf: (runtime) => ({ ...agent.activitiesOf?.(runtime), overhear: () => new Promise(() => {}) }),
});

/** An agent that has begun to tell a story to which nobody listens. */
async function telling(here: World, whenBusy: BusyPolicy, as: (agent: Agent) => Agent = (one) => one) {
  const agent = defineAgent({ id: "teller", model: talkative, whenBusy });
  const runtime: Runtime = await here.boot([as(agent)]);
  const thread = await runtime.thread(agent, { id: "t" });
  await thread.say("A story", { id: "first" }).heard;
  await here.rest();
  await here.clock.advance(50);
  await here.rest();
  // What is refused has its place in the journal, and is no step.
  for (let count = 0; count < 3; count++) await (await thread.run.send("decide")).handled();
  return { agent, runtime, thread };
}

const story = ["A story", "Once upon a time"];

onEveryStore((world) => {
  test("A6: what a model had said when it was stopped is kept, also if nobody had listened", async () => {
    const { thread } = await telling(await world(), "reject");
    await thread.stop();
    expect((await thread.run.state()).configuration).toEqual(["idle"]);
    expect((await thread.messages()).map(textOf)).toEqual(story);
    expect((await thread.messages())[1]?.metadata).toEqual({ interrupted: true });
    expect(await thread.say("Go on").answer()).toBe("Heard 2.");
  });

  test("C1: what is said over a model comes after what it had said", async () => {
    const { thread } = await telling(await world(), "interrupt");
    expect(await thread.say("Wait", { id: "second" }).answer()).toBe("Heard 2.");
    expect((await thread.messages()).map(textOf)).toEqual([...story, "Wait", "Heard 2."]);
  });

  test("B4: an agent that was killed before it knew what it had said finds out afterwards", async () => {
    const here = await world();
    const { agent, runtime, thread } = await telling(here, "interrupt", deaf);
    await thread.say("Wait", { id: "second" }).heard;
    const report = reportOf(await thread.run.state());
    expect([report?.phase, report?.queued.map(({ id }) => id)]).toEqual(["stopping", ["second"]]);
    await here.crash(runtime);
    const next = await (await here.boot([agent])).thread(agent, { id: "t" });
    expect(await next.say("Wait", { id: "second" }).answer()).toBe("Heard 2.");
    expect((await next.messages()).map(textOf)).toEqual([...story, "Wait", "Heard 2."]);
  });
});

/** What comes of two messages that are said while an agent finds out what it had said. */
async function saidMeanwhile(here: World, whenBusy: BusyPolicy) {
  const { agent, runtime, thread } = await telling(here, whenBusy, deaf);
  await (await thread.run.send("stop")).handled();
  const said = ["second", "third"].map((id) => thread.say(id, { id }).heard);
  const outcomes = (await Promise.allSettled(said)).map(({ status }) => status);
  // Its id is that of one that waits.
  const again = await thread.run.send("say", { id: "second", parts: [{ type: "text", text: "x" }] });
  const { outcome } = await again.handled();
  await here.crash(runtime);
  const next = await (await here.boot([agent])).thread(agent, { id: "t" });
  await next.run.waitFor("done");
  await here.rest();
  return { outcomes, outcome, messages: (await next.messages()).map(textOf) };
}

onEveryStore((world, kind) => {
  test.runIf(kind === "memory" || kind === "SQLite").each([
    ["reject", ["fulfilled", "rejected"], [...story, "second", "Heard 2."], "refused"],
    ["interrupt", ["fulfilled", "fulfilled"], [...story, "second", "third", "Heard 3."], "refused"],
    ["rollback", ["fulfilled", "fulfilled"], [...story, "third", "Heard 2."], "refused"],
    [
      "enqueue",
      ["fulfilled", "fulfilled"],
      [...story, "second", "Heard 2.", "third", "Heard 3."],
      "deferred",
    ],
  ] as const)(
    "C1: what is said while an agent stops is heard when it has, where it is to %s",
    async (whenBusy, outcomes, messages, outcome) => {
      expect(await saidMeanwhile(await world(), whenBusy)).toEqual({ outcomes, outcome, messages });
    },
  );
});
