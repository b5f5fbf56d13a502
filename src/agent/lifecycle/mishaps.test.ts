/** Turns in which somebody goes wrong: the model, the planner, a policy, whoever sums up. They end as what they are, and the thread goes on. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../examples/agents/scripted-model.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { createRuntime } from "../../index.ts";
import { memory } from "../../store/memory/index.ts";
import type { Model, ModelAnswer } from "../model/model.ts";
import { textOf } from "../thread/message.ts";
import { estimate } from "../window/tokens.ts";
import { defineAgent } from "./agent.ts";
import type { TurnPart } from "./turn-part.ts";

const text = (text: string): ModelAnswer => ({ parts: [{ type: "text", text }] });
const call = (id: string, tool: string, input: object = {}): ModelAnswer => ({
  parts: [{ type: "call", id, tool, input: input as never }],
});

/** A conversation with an agent that tries everything once. */
async function begin(definition: object) {
  const agent = defineAgent({ id: "a", model: () => text("ok"), retry: { attempts: 1 }, ...definition });
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const thread = await runtime.thread(agent, { id: "t" });
  const state = async () => (await thread.run.state()).context;
  const ask = (said: string) => thread.say(said).answer();
  return { thread, state, ask, [Symbol.asyncDispose]: () => runtime.close() };
}

/** A model that does something when it is spoken to, and says `Done.` when it sees what came of it. */
const doing =
  (first: (turn: number) => ModelAnswer): Model =>
  ({ messages }) => {
    const turn = messages.filter(({ role, metadata }) => role === "user" && !metadata?.by).length;
    return messages.at(-1)?.role === "user" ? first(turn) : text("Done.");
  };

test("A6: an agent that looks back needs no planner; to plan anew is to revise, then", async () => {
  const verdicts = ["replan", "accept"] as const;
  let asked = 0;
  const reflect = () => ({ verdict: verdicts[asked++] ?? "accept" });
  await using talk = await begin({ model: () => text(`Answer ${asked + 1}`), reflect });
  expect(await talk.ask("Hello?")).toBe("Answer 2");
});

test.each([
  ["a call without an id", { type: "call", tool: "x", input: {} }, "parts[0]: it has no id"],
  ["a call without an input", { type: "call", id: "c", tool: "x" }, "parts[0]: it has no input"],
  ["a text that is none", { type: "text", text: 5 }, "parts[0]: its text is none"],
  ["a part of no kind", { type: "image" }, "has parts of type"],
  ["no part", null, "has parts of type"],
])("A6: %s in a model's answer fails the turn, and the next is answered", async (_, part, why) => {
  const answers = [{ parts: [part] }, text("Fine.")];
  await using talk = await begin({ model: () => answers.shift(), tools: { x: { run: () => 1 } } });
  await expect(talk.ask("My own question")).rejects.toMatchObject({
    code: "TURN_UNANSWERED",
    message: expect.stringContaining(why),
  });
  expect((await talk.state()).ended).toMatchObject({ outcome: "failed" });
  expect(await talk.ask("And now?")).toBe("Fine.");
});

test("A6: an answer that cannot be kept is asked for again; what it says it used up must be numbers", async () => {
  const answers = [
    { parts: [{ type: "text", text: 5 }] },
    { ...text("x"), usage: { input: "5", output: undefined } },
    { ...text("x"), cost: Number.NaN },
    { ...text("Fine."), usage: { input: 2, output: 1 }, cost: 0 },
  ];
  const retry = { attempts: 4, first: 1, max: 1 };
  await using talk = await begin({ model: () => answers.shift(), retry });
  expect(await talk.ask("Hello?")).toBe("Fine.");
  expect((await talk.state()).used).toEqual({ thoughts: 1, input: 2, output: 1, cost: 0 });
});

test("A6: a policy that fails fails the turn, and nothing is called", async () => {
  let asked = 0;
  const model: Model = () => {
    asked++;
    return call(`c${asked}`, "x");
  };
  const approve = () => {
    throw new Error("policy down");
  };
  const tools = { x: { run: () => expect.unreachable() } };
  await using talk = await begin({ model, approve, tools, retry: { attempts: 3, first: 1 } });
  await expect(talk.ask("Do it")).rejects.toMatchObject({
    code: "TURN_UNANSWERED",
    message: expect.stringContaining("policy down"),
  });
  expect(asked).toBe(1);
});

test("A6: a policy may take its time to say which calls people are asked about", async () => {
  const made: string[] = [];
  const tools = { x: { run: (_: unknown, { call }: { call: string }) => void made.push(call) } };
  const approve = async ({ id }: { id: string }) => id === "c2";
  await using talk = await begin({ model: doing((turn) => call(`c${turn}`, "x")), approve, tools });
  expect(await talk.ask("one")).toBe("Done.");
  const said = talk.thread.say("two");
  for await (const part of said) if (part.type === "approval") await talk.thread.reject("c2");
  expect(made).toEqual(["c1"]);
});

test("A6: only true approves a call; what neither agrees nor refuses is no decision", async () => {
  const paid: string[] = [];
  const tools = { pay: { run: () => void paid.push("paid") } };
  await using talk = await begin({ model: doing(() => call("c1", "pay")), tools, approve: ["pay"] });
  const { run } = talk.thread;
  for await (const part of talk.thread.say("pay")) {
    if (part.type !== "approval") continue;
    for (const isApproved of ["false", "true", 1, null, undefined]) {
      const data = { call: "c1", ...(isApproved === undefined ? {} : { isApproved }) };
      expect((await (await run.send("decide", data)).handled()).outcome).toBe("refused");
    }
    expect((await (await run.send("decide", null)).handled()).outcome).toBe("refused");
    expect((await talk.thread.asked()).map(({ id }) => id)).toEqual(["c1"]);
    await talk.thread.reject("c1");
  }
  expect(paid).toEqual([]);
  expect((await talk.state()).ended).toMatchObject({ outcome: "answered" });
});

test("A6: to stop needs no words", async () => {
  await using talk = await begin({ model: () => new Promise(() => {}) });
  await talk.thread.say("Hello?").heard;
  expect((await (await talk.thread.run.send("stop")).handled()).outcome).toBe("taken");
  await talk.thread.run.waitFor("idle");
  expect((await talk.state()).ended).toMatchObject({ outcome: "stopped" });
});

const planned = { plan: () => ({ steps: ["look", "tell"] }) };
const lookDone = (turn: number) => call(`c${turn}`, "complete_step", { step: "look" });

test("C3: a plan that is made anew keeps what is done, and what is found again is not planned twice", async () => {
  const verdicts = ["replan", "accept"] as const;
  let asked = 0;
  const reflect = () => ({ verdict: verdicts[asked++] ?? "accept" });
  const model: Model = ({ messages }) =>
    messages.length === 2 ? lookDone(1) : text(`Answer ${messages.length}`);
  await using talk = await begin({ ...planned, model, reflect });
  expect(await talk.ask("go")).toMatch(/^Answer/);
  expect((await talk.state()).working.plan).toMatchObject({
    revision: 1,
    tasks: [
      { id: "1", title: "look", status: "done" },
      { id: "2", title: "tell", status: "pending" },
    ],
  });
});

test("C3: who says the same again has it done again, from the first step on", async () => {
  await using talk = await begin({ ...planned, model: doing(lookDone) });
  for (const said of ["continue", "continue", "other", "other"]) {
    expect(await talk.ask(said)).toBe("Done.");
    expect((await talk.state()).working).toMatchObject({
      goal: said,
      plan: {
        revision: 0,
        tasks: [
          { id: "1", status: "done" },
          { id: "2", status: "pending" },
        ],
      },
    });
  }
});

test("C3: a step that is found under the name of one that is done gets a name of its own", async () => {
  const found = [
    [
      { id: "a", title: "look" },
      { id: "b", title: "tell", needs: ["a"] },
    ],
    [
      { id: "a", title: "look elsewhere" },
      { id: "b", title: "tell", needs: ["a"] },
    ],
  ];
  const verdicts = ["replan", "accept"] as const;
  let asked = 0;
  const reflect = () => ({ verdict: verdicts[asked++] ?? "accept" });
  const model: Model = ({ messages }) => (messages.length === 2 ? lookDone(1) : text("Done."));
  const plan = () => ({ goal: "find it", steps: found.shift() ?? [] });
  await using talk = await begin({ plan, model, reflect });
  expect(await talk.ask("go")).toBe("Done.");
  expect((await talk.state()).working.plan.tasks).toMatchObject([
    { id: "a", title: "look", status: "done" },
    { id: "3", title: "look elsewhere", status: "pending" },
    { id: "b", needs: ["3"] },
  ]);
});

test("A6: whoever looks back and says no verdict fails the turn, and says so", async () => {
  await using talk = await begin({ reflect: () => undefined });
  await expect(talk.ask("Hello?")).rejects.toThrow("say a verdict: accept, revise, replan");
});

test.each([
  ["nothing", () => ""],
  ["blanks", () => " \n"],
  ["what is no text", () => undefined],
  ["more than there was", () => "word ".repeat(5_000)],
])("C2: who sums up as %s leaves the thread as it is, turn after turn", async (_, summarise) => {
  const model = () => text("word ".repeat(60));
  await using talk = await begin({ model, window: { budget: 800, keepRecent: 1, summarise } });
  for (let turn = 0; turn < 14; turn++) await talk.ask(`question ${turn} ${"foo ".repeat(30)}`);
  expect((await talk.state()).turn.number).toBe(14);
});

test("C2: what a model reports besides the messages makes no message too long for its window", async () => {
  const count = estimate();
  const model: Model = ({ messages }) => {
    const input = messages.reduce((sum, message) => sum + count.message(message), 600);
    return { ...text("ok"), usage: { input, output: 1 } };
  };
  const instructions = "Be kind and helpful. ".repeat(40);
  await using talk = await begin({ model, instructions, window: { budget: 2_000 } });
  for (const said of ["hi", "apple pear ".repeat(300), "hi", "apple pear ".repeat(800)])
    expect(await talk.ask(said)).toBe("ok");
});

test("C2: descriptions of tools are compared with what a model reports of them, and correct no count", async () => {
  const count = estimate();
  const schema = {
    type: "object",
    properties: { city: { type: "string", description: "town ".repeat(200) } },
  };
  const weather = { description: "Says how warm it is", input: jsonSchema(schema as never), run: () => 1 };
  const model: Model = ({ messages, tools }) => {
    const told = tools.map(({ name, description }) => JSON.stringify({ name, description, input: schema }));
    const input = messages.reduce((sum, message) => sum + count.message(message), count.text(told.join()));
    return { ...text("ok"), usage: { input, output: 1 } };
  };
  await using talk = await begin({ model, tools: { weather } });
  await talk.ask("hi");
  expect((await talk.state()).calibration.model?.ratio).toBeCloseTo(1, 1);
});

test("A6: the budget of a turn counts whoever plans, looks back, sums up and resolves", async () => {
  const critic = scriptedModel(() => ({ text: '{"verdict":"revise","note":"More."}' }));
  const planner = scriptedModel(() => ({ text: '{"goal":"g","steps":[]}' }));
  const model: Model = () => ({ ...text("x"), usage: { input: 1, output: 1 } });
  await using talk = await begin({
    model,
    plan: planner,
    reflect: critic,
    revisions: 3,
    budget: { tokens: 9 },
  });
  await expect(talk.ask("x")).rejects.toThrow("used up its budget");
  const { turn, used } = await talk.state();
  expect(used).toMatchObject({ thoughts: 0, input: 0, besides: turn.tokens });
  expect(turn.tokens).toBeGreaterThanOrEqual(9);
});

test("A6: a function that says what it spends is counted as the model is", async () => {
  const spend = (tokens: number) => (_: unknown, scope: { spend(spent: object): void }) => {
    scope.spend({ tokens, cost: 1 });
  };
  const plan = (occasion: unknown, scope: never) => {
    spend(10)(occasion, scope);
    return { steps: [] };
  };
  const reflect = (occasion: unknown, scope: never) => {
    spend(100)(occasion, scope);
    return { verdict: "accept" };
  };
  const summarise = (planned: unknown, scope: never) => {
    spend(1_000)(planned, scope);
    return "a summary";
  };
  const long = "foo ".repeat(300);
  await using talk = await begin({ plan, reflect, window: { budget: 800, keepRecent: 1, summarise } });
  await talk.ask("one");
  expect((await talk.state()).used).toMatchObject({ besides: 110, cost: 2 });
  await talk.ask(long);
  await talk.ask(long);
  expect((await talk.state()).used.besides).toBeGreaterThan(1_000);
});

/** Something that happens when it is told to. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test("A6: what waited in line and cannot be said ends by itself, and takes nothing with it", async () => {
  const first = gate();
  const model: Model = async () => {
    await first.opened;
    return text("ok");
  };
  await using talk = await begin({ model, whenBusy: "enqueue" });
  const { thread } = talk;
  const one = thread.say("one");
  await one.heard;
  const two = thread.say("two", { instead: "nobody" });
  const three = thread.say("three", { id: "three" });
  await Promise.all([two.heard, three.heard]);
  await thread.run.send("say", { id: "three", parts: [{ type: "text", text: "three again" }] });
  first.open();
  expect(await one.answer()).toBe("ok");
  expect(await three.answer()).toBe("ok");
  await expect(two.answer()).rejects.toMatchObject({
    code: "TURN_UNANSWERED",
    message: expect.stringContaining("waited, and cannot be said"),
  });
  expect((await thread.messages()).map(textOf)).toEqual(["one", "ok", "three", "ok"]);
  await expect(thread.say("four", { instead: "nobody" }).heard).rejects.toMatchObject({
    code: "MESSAGE_INVALID",
  });
});

test("A6: what was heard of an answer that is over is not said again in a later turn", async () => {
  const model: Model = async ({ messages }, { say }) => {
    if (messages.length > 1) return new Promise(() => {});
    for (const word of ["First ", "answer"]) say({ type: "text", text: word });
    return text("First answer");
  };
  await using talk = await begin({ model });
  const { thread } = talk;
  for await (const part of thread.say("one")) if (part.type === "text") break;
  await thread.run.waitFor("done");
  await thread.say("two").heard;
  await thread.stop();
  expect((await thread.messages()).map(textOf)).toEqual(["one", "First answer", "two"]);
});

test("A6: what was heard of a thought that is over is not said again in the same turn", async () => {
  const model: Model = async ({ messages }, { say }) => {
    if (messages.at(-1)?.role === "tool") return new Promise(() => {});
    say({ type: "text", text: "Let me " });
    say({ type: "text", text: "look." });
    return { parts: [{ type: "text", text: "Let me look." }, ...call("c", "look").parts] };
  };
  await using talk = await begin({ model, tools: { look: { run: () => 1 } } });
  const { thread } = talk;
  const heard: TurnPart[] = [];
  for await (const part of thread.say("one")) {
    heard.push(part);
    if (part.type === "text") break;
  }
  const isThinkingAgain = ({
    context,
  }: {
    context: { turn: { thoughts: number }; calls: readonly unknown[] };
  }) => context.turn.thoughts === 1 && context.calls.length === 0;
  for await (const step of thread.run.follow()) if (isThinkingAgain(await thread.run.at(step.seq))) break;
  await thread.stop();
  expect((await thread.messages()).map(textOf)).toEqual(["one", "Let me look.", ""]);
});

test("C8: a turn that is taken while the conversation is handed over goes along", async () => {
  const [from, to] = ["a", "b"].map((id) => defineAgent({ id, model: () => text(`from ${id}`) }));
  if (from === undefined || to === undefined) return expect.unreachable();
  const runtime = await createRuntime({ store: memory(), machines: [from, to] });
  const [thread, other] = [await runtime.thread(from, { id: "x" }), await runtime.thread(from, { id: "x" })];
  await thread.say("one").answer();
  const read = thread.run.state.bind(thread.run);
  let times = 0;
  (thread.run as { state: unknown }).state = async () => {
    const state = await read();
    if (++times === 1) await other.say("two").answer();
    return state;
  };
  const next = await thread.handOver(to);
  expect((await next.messages()).map(textOf)).toEqual(["one", "from a", "two", "from a"]);
  await runtime.close();
});
