/** What users may give by mistake: each is told with a code and what to do, and nothing has changed. */
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import { memory as memoryStore } from "../store/memory/store.ts";
import { defineBoard, openBoard } from "./board/index.ts";
import { fromAiSdk, fromAnthropic, fromOpenAI, toOpenAI } from "./formats/index.ts";
import { defineAgent } from "./lifecycle/agent.ts";
import { defineMemory, openMemory } from "./memory/index.ts";
import { defineProfile } from "./profile/index.ts";
import { defineScopes } from "./scope/index.ts";

const runtimes: Runtime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close();
});

async function boot(machine: Parameters<typeof createRuntime>[0]["machines"][number]): Promise<Runtime> {
  const runtime = await createRuntime({ store: memoryStore(), machines: [machine] });
  runtimes.push(runtime);
  return runtime;
}

/** What is given as if its types did not matter. */
const any = (value: unknown): never => value as never;
const speaks = () => ({ parts: [{ type: "text", text: "Hi." }] }) as const;

describe("a definition that cannot be meant is refused when it is made", () => {
  test.each([
    ["a way to be busy that there is not", { whenBusy: "whatever" }, "reject, enqueue, interrupt, rollback"],
    ["a budget below 0", { budget: { steps: -1 } }, "steps"],
    ["a budget that is no number", { budget: { tokens: Number.NaN } }, "tokens"],
    ["a budget of something else", { budget: { step: 3 } }, "step"],
    ["a tool whose name no model takes", { tools: { "look up": { run: () => 1 } } }, "look up"],
    ["no tool at a time", { parallel: 0 }, "parallel"],
    ["half a revision", { revisions: 0.5 }, "revisions"],
    ["a window without room", { window: { budget: -1 } }, "budget of -1"],
    ["a window of no number of tokens", { window: { budget: "9" } }, "how many tokens"],
    ["a window that keeps fewer than none", { window: { keepRecent: -1 } }, "keepRecent"],
    ["a window that is none", { window: 5 }, "window"],
  ])("an agent with %s", (_, parts, told) => {
    const define = () => defineAgent(any({ id: "agent", model: speaks, ...parts }));
    expect(define).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }));
    expect(define).toThrow(told);
  });

  test("a memory", () => {
    const invalid = expect.objectContaining({ code: "FACT_INVALID" });
    expect(() => defineMemory(any({ id: "m", many: "likes" }))).toThrow(invalid);
    expect(() => defineMemory({ id: "m", halfLife: "soon" })).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID" }),
    );
  });

  test("a profile and scopes", () => {
    expect(() => defineProfile({ id: "p", preferences: { a: any({ type: "colour" }) } })).toThrow(
      expect.objectContaining({ code: "PREFERENCE_INVALID" }),
    );
    const invalid = expect.objectContaining({ code: "SCOPE_INVALID" });
    expect(() => defineScopes({ id: "s", scopes: any({ galaxy: { a: z.string() } }) })).toThrow(invalid);
    expect(() => defineScopes({ id: "s", scopes: {}, retention: any({ users: "1 h" }) })).toThrow(invalid);
    expect(() => defineScopes({ id: "s", scopes: {}, retention: { user: "later" } })).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID" }),
    );
  });
});

describe("a memory that is told what is no fact", () => {
  const source = { trust: "trusted" } as const;

  test("says so, and remembers nothing", async () => {
    const kind = defineMemory({ id: "memory" });
    const ada = openMemory(await boot(kind), kind, { user: "ada" });
    const invalid = { code: "FACT_INVALID" };
    for (const wrong of [null, undefined, "text", { text: "a", source }, { subject: 5, text: "a", source }])
      await expect(ada.remember(any(wrong))).rejects.toMatchObject(invalid);
    const said = { subject: "Ada", text: "Ada sings.", source: { ...source, message: 5 } };
    await expect(ada.remember(any(said))).rejects.toMatchObject(invalid);
    await expect(ada.recall(any(5))).rejects.toMatchObject(invalid);
    await ada.remember({ subject: "Ada", text: "Ada sings.", source });
    for (const wrong of [null, {}, { ids: "f1" }, { ids: [1] }, { message: 5 }, { everything: false }])
      await expect(ada.forget(any(wrong))).rejects.toThrow("give ids, a message, or everything");
    await expect(ada.correct("f1", any(null))).rejects.toMatchObject(invalid);
    await expect(ada.close("f1", any("now"))).rejects.toMatchObject(invalid);
    expect(await ada.audit()).toMatchObject({ total: 1, live: 1 });
    expect(await ada.forget({ ids: ["f1", "f1"] })).toEqual(["f1"]);
    expect(await ada.read()).toMatchObject({ words: 0, characters: 0 });
  });
});

test("a board that is asked what cannot be meant says which part of it", async () => {
  const team = defineBoard({ id: "team", keys: { a: { policy: "reject" } } });
  const ada = await openBoard(await boot(team), team, { id: "b", agent: "ada" });
  await expect(ada.write("a", any(undefined))).rejects.toMatchObject({ code: "EVENT_INVALID" });
  await expect(ada.write("a", 1, { ifVersion: any("1") })).rejects.toThrow("ifVersion");
  await expect(ada.lease("x", any(undefined))).rejects.toMatchObject({ code: "LEASE_INVALID" });
  await expect(ada.lease(any(5), { for: "1s" })).rejects.toMatchObject({ code: "LEASE_INVALID" });
  await expect(ada.propose(any({ question: "?", options: ["a", "b"] }))).rejects.toMatchObject({
    code: "VOTE_INVALID",
  });
  await expect(
    ada.propose({ question: "?", options: ["a", "b"], voters: ["ada"], rule: any("dice") }),
  ).rejects.toThrow("rule");
  const { context } = await ada.run.state();
  expect(context.version).toBe(0);
});

describe("an agent that is told what is no message", () => {
  test("says so, and goes on; whoever waits for the answer alone is told once", async () => {
    const agent = defineAgent({ id: "agent", model: speaks });
    const thread = await (await boot(agent)).thread(agent);
    for (const wrong of [5, null, [{ type: "video" }]])
      await expect(thread.say(any(wrong)).answer()).rejects.toMatchObject({ code: "MESSAGE_INVALID" });
    expect(await thread.say("Hello.", { id: "m1" }).answer()).toBe("Hi.");
    const instead = thread.say("Hello?", { instead: "nobody" });
    await expect(instead.answer()).rejects.toMatchObject({ code: "MESSAGE_INVALID" });
    expect((await thread.messages()).length).toBe(2);
  });
});

test("a model that gives no answer ends the turn with what it gave, and the thread goes on", async () => {
  const given: unknown[] = [{ text: "Hi." }, null, speaks()];
  const agent = defineAgent({ id: "agent", model: any(() => given.shift()), retry: { attempts: 1 } });
  const thread = await (await boot(agent)).thread(agent);
  await expect(thread.say("1").answer()).rejects.toThrow("no list of parts");
  await expect(thread.say("2").answer()).rejects.toThrow("The model gave null");
  expect(await thread.say("3").answer()).toBe("Hi.");
});

test.each([null, undefined, 5, "x", {}, { messages: 5 }, { messages: [null] }, [null], [[]]])(
  "what is no list of messages (%j) is said to be none by all formats",
  (given) => {
    const invalid = expect.objectContaining({ code: "MESSAGE_INVALID" });
    for (const read of [fromOpenAI, fromAnthropic, fromAiSdk])
      expect(() => read(any(given), { at: 0 })).toThrow(invalid);
  },
);

test.each([
  undefined,
  null,
  5,
  {},
  { at: "now" },
  { at: Number.NaN },
  { at: 0, id: "m" },
  { at: 0, openEnd: "open" },
])("messages are not read with options that are none (%j), and all formats say what to write", (given) => {
  const invalid = expect.objectContaining({
    ...{ code: "OPTIONS_INVALID", message: expect.stringContaining("{ at, id") },
  });
  for (const read of [fromOpenAI, fromAnthropic, fromAiSdk])
    expect(() => read(any(read === fromAnthropic ? { messages: [] } : []), any(given))).toThrow(invalid);
});

test("a message of an assistant that says nothing is left out where a provider would refuse it for ever", () => {
  const { messages, left } = toOpenAI([
    { id: "q", role: "user", at: 0, parts: [{ type: "text", text: "Hello?" }] },
    { id: "a", role: "assistant", at: 1, parts: [{ type: "thinking", text: "Hm." }] },
  ]);
  expect(messages).toEqual([{ role: "user", content: "Hello?" }]);
  expect(left).toContainEqual({ message: "a", what: "a message without content" });
});

describe("what is no conversation of another agent's begins none", () => {
  const working = { goal: "", plan: { tasks: [], revision: 0 }, notes: [] };
  const said = { id: "m", role: "user", at: 0, after: null, parts: [{ type: "text", text: "Hi" }] };
  const thread = { pages: [[said]], head: 0, overlays: [] };
  const calls = { ...said, role: "assistant", parts: [{ type: "call", id: "c", tool: "x", input: {} }] };

  test.each([
    ["something else", { foo: 1 }, "not { thread, working, turn }"],
    ["a number", 7, "not { thread, working, turn }"],
    ["a turn that is none", { thread, working, turn: {} }, "not { thread, working, turn }"],
    ["a thread that is none", { thread: 5, working }, "no object"],
    ["no messages", { thread: { messages: [] }, working }, "no lists"],
    ["pages that are none", { thread: { ...thread, pages: [[said], [said]] }, working }, "no lists"],
    ["what is no message", { thread: { ...thread, pages: [[5]] }, working }, "message 0 cannot be kept"],
    [
      "a message after itself",
      { thread: { ...thread, pages: [[{ ...said, after: 0 }]] }, working },
      "before it",
    ],
    ["one message twice", { thread: { ...thread, pages: [[said, said]] }, working }, "one id"],
    ["an end that is not there", { thread: { ...thread, head: 9 }, working }, "does not have"],
    ["calls without results", { thread: { ...thread, pages: [[calls]] }, working }, "have no results"],
  ])("F5: %s", async (_, input, told) => {
    const agent = defineAgent({ id: "agent", model: speaks });
    const runtime = await boot(agent);
    const begun = runtime.start(agent.machine, any({ id: "r", input }));
    await expect(begun).rejects.toMatchObject({ message: expect.stringContaining(told) });
    await expect(runtime.run("r")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  });
});
