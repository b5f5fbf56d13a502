/** Reports: what can be told of an agent from a run's committed state alone. */
import { expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine } from "../../index.ts";
import type { Model, ModelAnswer } from "../model/model.ts";
import { estimate } from "../window/tokens.ts";
import { type AgentDefinition, defineAgent } from "./agent.ts";
import { type AgentReport, reportOf } from "./report.ts";

const text = (text: string): ModelAnswer => ({ parts: [{ type: "text", text }] });
const call = (id: string, tool: string, input: object = {}): ModelAnswer["parts"][number] => ({
  ...{ type: "call", id, tool, input: input as never },
});

const other = defineMachine({ id: "other", initial: "a", states: { a: {} } });

onEveryStore((world) => {
  const begin = async (definition: Partial<AgentDefinition<Record<string, never>>> & { model: Model }) => {
    const here = await world();
    const agent = defineAgent({ id: "helper", ...definition } as never);
    const runtime = await here.boot([agent, other]);
    const thread = await agent.openThread(runtime, { id: "t" });
    // As whoever has nothing but what is stored: through JSON, and without the agent.
    const report = async (options = {}): Promise<AgentReport> =>
      reportOf(JSON.parse(JSON.stringify(await thread.run.state())), options) ?? expect.unreachable();
    return { ...here, runtime, thread, report };
  };
  const answering =
    (...answers: ModelAnswer[]): Model =>
    () =>
      answers.shift() ?? text("no more");

  test("A6: what people are asked is told with the events that decide it, and so is what they decided", async () => {
    const made: unknown[] = [];
    const tools = { mail: { run: (input: unknown) => `sent ${made.push(input)}` }, look: { run: () => 1 } };
    const { thread, report, rest, runtime } = await begin({
      model: answering(
        {
          parts: [
            call("a", "mail", { to: "ada" }),
            call("b", "mail", { to: "bob" }),
            call("c", "mail", { to: "cy" }),
          ],
        },
        text("Done"),
      ),
      ...({ tools, approve: ["mail"], decideWithin: "2h" } as object),
    });
    const parts = listOf(thread.say("mail them", { id: "m" }));
    await rest();
    const asking = await report();
    expect(asking).toMatchObject({ agent: "helper", status: "active", phase: "waiting" });
    const { at } = asking.window ?? expect.unreachable();
    expect(asking.approvals.open[0]).toEqual({
      ...{
        call: "a",
        tool: "mail",
        input: { to: "ada" },
        position: 1,
        askedAt: at,
        decideBy: at + 7_200_000,
      },
      answers: {
        approve: { type: "decide", data: { call: "a", isApproved: true } },
        edit: { type: "decide", data: { call: "a", isApproved: true, input: { to: "ada" } } },
        reject: { type: "decide", data: { call: "a", isApproved: false } },
      },
    });
    expect(asking.calls.map(({ id, status }) => [id, status])).toEqual([
      ...[["a", "running"]],
      ...[["b", "running"]],
      ...[["c", "running"]],
    ]);
    const [a, b, c] = asking.approvals.open.map(({ answers }) => answers);
    // What a person presses is sent to the run as any event, by whoever may.
    const run = await runtime.run("t");
    await run.send("decide", { ...a?.approve.data, by: "boss" } as never);
    await run.send("decide", { ...b?.edit.data, input: { to: "Bob" }, by: "boss" } as never);
    await rest();
    expect((await report()).approvals.open.map((open) => open.call)).toEqual(["c"]);
    await run.send("decide", { ...c?.reject.data, note: "He left." } as never);
    await parts;
    expect(made).toEqual([{ to: "ada" }, { to: "Bob" }]);
    const after = await report();
    expect(after.approvals).toMatchObject({
      open: [],
      decided: [
        { call: "c", tool: "mail", asked: { to: "cy" }, isApproved: false, note: "He left.", position: 1 },
        { call: "a", isApproved: true, by: "boss", asked: { to: "ada" } },
        { call: "b", isApproved: true, by: "boss", asked: { to: "bob" }, input: { to: "Bob" } },
      ],
    });
    expect(after.calls.map(({ id, status }) => [id, status])).toEqual([
      ...[["c", "failed"]],
      ...[["a", "done"]],
      ...[["b", "done"]],
    ]);
    // The model is told that what it asked for was changed.
    const [, second] = after.thread.messages.at(-2)?.parts ?? [];
    expect(second).toMatchObject({
      output: { note: expect.stringContaining("changed"), input: { to: "Bob" }, output: "sent 2" },
    });
  });

  test("A6: what was asked and never decided is told as that, and was never made", async () => {
    const { thread, report, rest } = await begin({
      model: answering({ parts: [call("a", "mail"), call("b", "look")] }),
      ...({ tools: { mail: { run: () => 0 }, look: { run: () => 0 } }, approve: ["mail"] } as object),
    });
    const parts = listOf(thread.say("mail"));
    await rest();
    await thread.stop();
    await parts;
    const { approvals, calls, phase, ended } = await report();
    expect([phase, ended?.outcome]).toEqual(["idle", "stopped"]);
    expect(approvals).toMatchObject({ open: [], decided: [{ call: "a", isApproved: false, at: null }] });
    expect(calls).toMatchObject([
      { id: "a", status: "failed", error: { message: expect.stringContaining("did not happen") } },
      { id: "b", status: "failed", error: { message: expect.stringContaining("did not happen") } },
    ]);
  });

  test("A6: messages come with their branches and versions, page by page; plan and what was used up as well", async () => {
    const { thread, report } = await begin({
      model: answering(
        { ...text("Paris"), usage: { input: 7, output: 2 }, cost: 0.5 },
        { ...text("Rome"), usage: { input: 9, output: 1 }, cost: 0.25 },
        text("Tiber"),
      ),
      plan: () => ({ goal: "answer", steps: ["look", { id: "tell", needs: ["1"] }] }),
    });
    await thread.say("France?", { id: "q" }).answer();
    await thread.say("Italy?", { id: "r", instead: "q" }).answer();
    await thread.say("River?", { id: "s" }).answer();
    const all = await report();
    expect(all.thread.messages.map(({ position, after, versions }) => [position, after, versions])).toEqual([
      ...[[2, null, [0, 2]]],
      ...[[3, 2, [3]]],
      ...[[4, 3, [4]]],
      ...[[5, 4, [5]]],
    ]);
    expect(all.thread.branches.map(({ head, active, length }) => [head, active, length])).toEqual([
      ...[[5, true, 4]],
      ...[[1, false, 2]],
    ]);
    const page = (await report({ messagesMax: 3 })).thread;
    expect([page.messages.map(({ id }) => id), page.before]).toEqual([
      ["assistant-3", "s", "assistant-5"],
      2,
    ]);
    const earlier = (await report({ messagesMax: 3, head: page.before })).thread;
    expect([earlier.messages.map(({ id }) => id), earlier.before]).toEqual([["r"], null]);
    expect((await report({ head: 1 })).thread.messages.map(({ id }) => id)).toEqual(["q", "assistant-1"]);
    const estimated = all.used.input - 16;
    expect(estimated).toBeGreaterThan(0);
    expect(all.used).toEqual({ thoughts: 3, input: 16 + estimated, output: 3, cost: 0.75 });
    expect(all.plan).toMatchObject({
      ...{ goal: "answer", revision: 2, criticalPath: { tasks: ["1", "tell"] }, bottlenecks: ["1", "tell"] },
      tasks: [
        { id: "1", title: "look" },
        { id: "tell", needs: ["1"] },
      ],
      progress: { total: 2, done: 0, ready: 1, waiting: 1, share: 0 },
    });
  });

  test("C2: the window of the last thought is told stretch by stretch: shown, summarised, left out, cleared, cut", async () => {
    const long = "The harbour was full of boats and nobody minded. ".repeat(12);
    let asked: Parameters<Model>[0] | undefined;
    let count = 0;
    const { thread, report } = await begin({
      instructions: "Be brief.",
      model: (request) => {
        asked = request;
        return request.messages.at(-1)?.role === "user"
          ? { parts: [call(`c${++count}`, count % 2 === 0 ? "find" : "pay")] }
          : text(long);
      },
      window: { budget: 900, keepRecent: 2, summarise: () => "They talked of boats." },
      ...({
        tools: { find: { refetchable: true, run: () => long }, pay: { run: () => "paid" } },
      } as object),
    });
    for (let turn = 0; turn < 6; turn++) await thread.say(`Number ${turn}?`).answer();
    const { window, thread: told } = await report();
    if (window === null) return expect.unreachable();
    expect(window).toMatchObject({ budget: 900, head: 22, system: "Be brief." });
    expect(window.tokens).toBeLessThanOrEqual(900);
    const shown = told.messages.filter(({ position }) =>
      window.stretches.some(({ how, from, to }) => how === "shown" && from <= position && position <= to),
    );
    const seen = asked?.messages ?? [];
    expect(seen.flatMap(({ id, metadata }) => (id === "system" || metadata?.overlay ? [] : [id]))).toEqual(
      shown.map(({ id }) => id),
    );
    const summaries = window.stretches.flatMap(({ summary }) => summary ?? []);
    expect(seen.flatMap(({ metadata }) => (metadata?.overlay as string) ?? [])).toEqual(summaries);
    expect(summaries.length).toBeGreaterThan(0);
    // Every message of the branch is in one stretch, in its order.
    expect(window.stretches.map(({ messages }) => messages).reduce((sum, more) => sum + more, 0)).toBe(23);
    const counted = (how: string) =>
      window.stretches.reduce((sum, one) => sum + (one.how === how ? one.messages : 0), 0);
    expect([counted("left"), counted("summarised")]).toEqual([window.left.dropped, window.left.summarised]);
    const cleared = seen.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "result" && String(part.output).includes("cleared") ? [part.call] : [],
      ),
    );
    expect(window.left.cleared).toEqual(cleared);
  });

  test("A6: what waits in line is told, and what is no agent's has no report", async () => {
    const answers: ((answer: ModelAnswer) => void)[] = [];
    const { thread, report, rest, runtime } = await begin({
      model: () => new Promise((resolve) => void answers.push(resolve)),
      whenBusy: "enqueue",
    });
    const first = thread.say("one").answer();
    await rest();
    const second = thread.say("two", { id: "second" }).answer();
    await rest();
    expect(await report()).toMatchObject({
      phase: "thinking",
      queued: [{ id: "second", parts: [{ type: "text", text: "two" }] }],
      window: null,
    });
    answers[0]?.(text("1"));
    await first;
    await rest();
    answers[1]?.(text("2"));
    await second;
    const run = await runtime.start(other);
    expect(reportOf((await run.state()) as never)).toBeUndefined();
  });
});

test("C2: what is told of a window does not grow with the conversation", async () => {
  const { sightOf } = await import("./seen.ts");
  const { append, emptyThread } = await import("../thread/thread.ts");
  const { buildWindow } = await import("../window/window.ts");
  const thread = emptyThread();
  const sizes: number[] = [];
  const count = estimate();
  for (let turn = 0; turn < 2_000; turn++) {
    append(thread, { id: `q${turn}`, role: "user", at: turn, parts: [{ type: "text", text: "and then?" }] });
    append(thread, {
      ...{ id: `a${turn}`, role: "assistant", at: turn },
      parts: [{ type: "call", id: `c${turn}`, tool: "find", input: null }],
    });
    append(thread, {
      ...{ id: `r${turn}`, role: "tool", at: turn },
      parts: [{ type: "result", call: `c${turn}`, tool: "find", output: "found ".repeat(30) }],
    });
    if (turn % 500 !== 499) continue;
    const window = buildWindow(thread, { budget: 2_000, count, now: turn, refetchable: () => true });
    const sight = sightOf({ thread, seen: null }, window, { at: 0, budget: 2_000, system: "" });
    sizes.push(JSON.stringify(sight).length);
  }
  expect(Math.max(...sizes)).toBeLessThan(300);
});
