/** A model that hands its conversation over by itself, and the other tools that the lifecycle offers. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import type { Model, ModelAnswer, ModelRequest } from "../model/model.ts";
import { textOf } from "../thread/message.ts";
import { defineAgent } from "./agent.ts";
import { reportOf } from "./report.ts";
import type { TurnPart } from "./turn-part.ts";

const text = (text: string): ModelAnswer => ({ parts: [{ type: "text", text }] });
const call = (id: string, tool: string, input: object = {}): ModelAnswer["parts"][number] => ({
  ...{ type: "call", id, tool, input: input as never },
});

/** A model that gives these answers, one after another. */
function scripted(...answers: ModelAnswer[]) {
  const requests: ModelRequest[] = [];
  const model: Model = (request) => answers[requests.push(request) - 1] ?? text("no more");
  return { model, requests };
}

const shown = (parts: readonly TurnPart[]) =>
  parts.flatMap((part) =>
    part.type === "text" ? part.text : part.type === "result" ? [] : `(${part.type})`,
  );

const successors = { billing: "Bills, payments and refunds" };
const toBilling = (id = "h") => call(id, "hand_over", { to: "billing" });

onEveryStore((world) => {
  const begin = async (first: ModelAnswer[], second: ModelAnswer[], more: object = {}) => {
    const here = await world();
    const [desk, billing] = [scripted(...first), scripted(...second)];
    const agents = [
      defineAgent({ id: "desk", model: desk.model, handOver: successors, ...more }),
      defineAgent({
        ...{ id: "billing", model: billing.model, handOver: { desk: "Everything else" } },
        whenBusy: "enqueue",
      }),
    ] as const;
    const runtime = await here.boot(agents);
    const thread = await runtime.thread(agents[0], { id: "t", user: "ada" });
    return { ...here, desk, billing, agents, runtime, thread };
  };

  describe("a model that may hand over", () => {
    test("C8: passes the conversation on, and whoever listens hears the other agent answer", async () => {
      const { thread, desk, billing, runtime } = await begin(
        [{ parts: [{ type: "text", text: "One moment." }, toBilling()] }],
        [text("Your bill is right."), text("Indeed.")],
      );
      const parts = await listOf(thread.say("My bill is wrong.", { id: "m" }));
      expect(shown(parts)).toEqual([
        ...["One moment.", "(call)", "(handedOver)", "Your bill is right.", "(end)"],
      ]);
      expect(desk.requests[0]?.tools).toMatchObject([
        { name: "hand_over", description: expect.stringContaining("billing (Bills, payments and refunds)") },
      ]);
      // The other one has all that was said.
      expect(billing.requests[0]?.messages.map(textOf)).toEqual(["My bill is wrong.", "One moment.", ""]);
      // The conversation goes on there, under the same name.
      expect(await thread.say("Really?").answer()).toBe("Indeed.");
      expect([desk.requests.length, billing.requests.length]).toEqual([1, 2]);
      const other = await thread.current();
      expect([(await other.head()).subject, (await thread.run.head()).status]).toEqual(["ada", "active"]);
      expect((await thread.messages()).map(textOf)).toEqual([
        ...["My bill is wrong.", "One moment.", "", "Your bill is right.", "Really?", "Indeed."],
      ]);
      const report = reportOf(await thread.run.state());
      expect([report?.phase, `t${report?.successor}`]).toEqual(["away", other.id]);
      // Closed with the one that has it.
      await thread.close();
      expect((await thread.run.finished()).status).toBe("done");
      await expect(runtime.run(other.id).then((run) => run.finished())).resolves.toMatchObject({
        status: "done",
      });
    });

    test("C8: has what it also wanted called first, and is heard from a cursor on, in another process as well", async () => {
      const looked: number[] = [];
      const { thread, agents, runtime, crash, boot } = await begin(
        [{ parts: [toBilling(), call("l", "look")] }],
        [text("Found.")],
        { tools: { look: { run: () => looked.push(1) } } },
      );
      const parts = await listOf(thread.say("Look", { id: "m" }));
      expect(looked).toEqual([1]);
      expect(shown(parts)).toEqual(["(call)", "(call)", "(handedOver)", "Found.", "(end)"]);
      await crash(runtime);
      const again = await (await boot(agents)).thread(agents[0], { id: "t" });
      for (const [index, { cursor }] of parts.entries()) {
        const rest: TurnPart[] = [];
        if (index === parts.length - 1) break;
        for await (const part of again.listen(cursor)) {
          rest.push(part);
          if (part.type === "end") break;
        }
        expect(rest).toEqual(parts.slice(index + 1));
      }
    });

    test("C8: hands over once, whenever its process dies", async () => {
      for (let fatal = 1; ; fatal++) {
        const here = await begin([{ parts: [toBilling()] }], [text("Here."), text("Here."), text("Here.")]);
        const { thread, agents, runtime, crash, boot, watch, rest } = here;
        let commits = 0;
        watch.fault = ({ verb }) => (verb === "commit" && ++commits === fatal ? "after" : undefined);
        thread.say("Bill?", { id: "m" }).heard.catch(() => {});
        await rest();
        const isOver = commits < fatal;
        watch.fault = () => undefined;
        watch.comeBack();
        await crash(runtime);
        const next = await (await boot(agents)).thread(agents[0], { id: "t" });
        expect(await next.say("Bill?", { id: "m" }).answer()).toBe("Here.");
        expect((await next.messages()).map(({ role }) => role)).toEqual([
          ...["user", "assistant", "tool", "assistant"],
        ]);
        if (isOver) return expect(fatal).toBeGreaterThan(2);
      }
    });

    test("C8: what waited in line is answered by whoever has the conversation then; so is what is sent to the first run", async () => {
      const go = Promise.withResolvers<ModelAnswer>();
      const { thread, runtime, rest } = await begin([], [text("One."), text("Two."), text("Three.")], {
        model: () => go.promise,
        whenBusy: "enqueue",
      });
      const first = thread.say("1").answer();
      await rest();
      const second = thread.say("2", { id: "second" });
      await second.heard;
      go.resolve({ parts: [toBilling()] });
      expect(await first).toBe("One.");
      await rest();
      const said = { id: "third", parts: [{ type: "text", text: "3" }] };
      await (await runtime.run("t")).send("say", said as never);
      await rest();
      expect((await thread.messages()).map(textOf)).toEqual([
        ...["1", "", "", "One.", "2", "Two.", "3", "Three."],
      ]);
    });

    test("C8: agents that only pass a turn to each other are told to answer it", async () => {
      const back = (n: number): ModelAnswer => ({ parts: [call(`b${n}`, "hand_over", { to: "desk" })] });
      const on = (n: number): ModelAnswer => ({ parts: [toBilling(`d${n}`)] });
      const times = Array.from({ length: limits.handOversMax }, (_, n) => n);
      const { thread } = await begin([...times.map(on), text("Me then.")], [...times.map(back), text("No.")]);
      expect(await thread.say("Who?").answer()).toBe("Me then.");
      const refused = (await thread.messages()).at(-2)?.parts;
      expect(refused).toMatchObject([{ isError: true, output: expect.stringContaining("too often") }]);
      const { turn } = (await (await thread.current()).state()).context;
      expect(turn.handOvers).toBe(limits.handOversMax);
    });

    test("C8: an agent that is nowhere to be found ends the turn, and the conversation stays", async () => {
      const here = await world();
      const { model } = scripted({ parts: [toBilling()] }, text("Still here."));
      const agent = defineAgent({ id: "desk", model, handOver: successors });
      const thread = await (await here.boot([agent])).thread(agent);
      await expect(thread.say("Bill?").answer()).rejects.toMatchObject({ code: "TURN_UNANSWERED" });
      expect(await thread.say("Hello?").answer()).toBe("Still here.");
    });

    test("C8: a person may be asked first, and an input that names nobody is told to the model", async () => {
      const { thread } = await begin(
        [{ parts: [call("x", "hand_over", { to: "sales" })] }, { parts: [toBilling()] }, text("I stay.")],
        [],
        { approve: ["hand_over"] },
      );
      const parts: TurnPart[] = [];
      for await (const part of thread.say("Go")) {
        parts.push(part);
        if (part.type === "approval")
          for (const { id } of part.calls) await (id === "x" ? thread.approve(id) : thread.reject(id));
      }
      expect(parts.flatMap((part) => (part.type === "result" ? [part.result.output] : []))).toEqual([
        expect.stringContaining("The input does not fit"),
        expect.stringContaining("not approved"),
      ]);
      expect(parts.at(-1)).toMatchObject({ type: "end", outcome: "answered" });
    });
  });

  test("C3: a model with a plan says what is done of it, and takes notes; what cannot be is told to it", async () => {
    const here = await world();
    const { model, requests } = scripted(
      {
        parts: [
          call("a", "complete_step", { step: "send" }),
          call("b", "complete_step", { step: "look", result: "two boats" }),
          call("c", "take_note", { text: "The harbour is small." }),
        ],
      },
      { parts: [call("d", "complete_step", { step: "send" })] },
      text("Done."),
    );
    const agent = defineAgent({
      ...{ id: "a", model },
      plan: () => ({ goal: "report", steps: [{ id: "look" }, { id: "send", needs: ["look"] }] }),
    });
    const thread = await (await here.boot([agent])).thread(agent, { id: "t" });
    expect(await thread.say("Report").answer()).toBe("Done.");
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["complete_step", "take_note"]);
    const told = textOf(requests[1]?.messages[0] as never);
    expect(told).toContain("Pending:\n- send (after look)");
    expect(told).toContain("Completed:\n- look: two boats");
    expect(told).toContain("The harbour is small.");
    const report = reportOf(await thread.run.state());
    expect(report?.plan).toMatchObject({
      progress: { total: 2, done: 2, share: 1 },
      notes: [{ text: "The harbour is small." }],
    });
    expect(report?.calls.map(({ id, status }) => `${id} ${status}`)).toEqual([
      ...["a failed", "b done", "c done", "d done"],
    ]);
    expect(() => defineAgent({ ...agentWith("take_note"), plan: () => ({ steps: [] }) })).toThrow(
      "every such agent has",
    );
  });
});

const agentWith = (tool: string) => ({
  ...{ id: "a", model: () => text("x"), tools: { [tool]: { run: () => null } } },
});
