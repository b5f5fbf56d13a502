/** Agents: what they do with what is said, on every store, without any model but a function. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import type { Model, ModelAnswer } from "../model/model.ts";
import { renderLog } from "../plan/tool-log.ts";
import { textOf } from "../thread/message.ts";
import { allMessages } from "../thread/thread.ts";
import { type AgentDefinition, defineAgent } from "./agent.ts";
import { toolLogOf } from "./log.ts";
import type { TurnPart } from "./turn-part.ts";

const text = (text: string): ModelAnswer => ({ parts: [{ type: "text", text }] });
const call = (id: string, tool: string, input: object = {}): ModelAnswer["parts"][number] => ({
  ...{ type: "call", id, tool, input: input as never },
});

/** A model that gives these answers, one after another, and then says that it has none. */
function scripted(...answers: (ModelAnswer | ((request: Parameters<Model>[0]) => ModelAnswer))[]) {
  const requests: Parameters<Model>[0][] = [];
  const model: Model = (request) => {
    const answer = answers[requests.push(request) - 1] ?? text("no more");
    return typeof answer === "function" ? answer(request) : answer;
  };
  return { model, requests };
}

const shown = (parts: readonly TurnPart[]) =>
  parts.map((part) => {
    if (part.type === "call") return `call ${part.call.tool}`;
    if (part.type === "result")
      return `result ${JSON.stringify(part.result.output)}${part.result.isError ? " (error)" : ""}`;
    if (part.type === "approval") return `approval ${part.calls.map(({ id }) => id)}`;
    if (part.type === "end") return `end ${part.outcome}`;
    return `${part.type} ${part.text}`;
  });

onEveryStore((world) => {
  const begin = async (definition: Partial<AgentDefinition<Record<string, never>>> & object) => {
    const here = await world();
    const agent = defineAgent({ id: "helper", model: scripted().model, ...definition } as never);
    const runtime = await here.boot([agent]);
    const thread = await agent.openThread(runtime, { id: "t", user: "ada" });
    return { ...here, agent, runtime, thread };
  };

  describe("an agent", () => {
    test("A6: answers what is said, and hears what is said next", async () => {
      const { model, requests } = scripted(text("Hello"), text("Bye"));
      const { thread } = await begin({ model, instructions: "Be kind." });
      expect(await thread.say("Hi").answer()).toBe("Hello");
      expect(shown(await listOf(thread.say("Thanks")))).toEqual(["text Bye", "end answered"]);
      expect(requests[1]?.messages.map((message) => `${message.role}: ${textOf(message)}`)).toEqual([
        "system: Be kind.",
        "user: Hi",
        "assistant: Hello",
        "user: Thanks",
      ]);
      expect((await thread.run.head()).subject).toBe("ada");
    });

    test("A6: calls tools side by side, and tells the model what came of each", async () => {
      const { model, requests } = scripted(
        {
          parts: [
            call("a", "add", { n: 1 }),
            call("b", "add", { n: 2 }),
            call("c", "fail"),
            call("d", "none"),
          ],
        },
        text("Done"),
      );
      const tools = {
        add: { run: ({ n }: { n: number }) => n + 1 },
        fail: {
          retry: { attempts: 1 },
          run: () => {
            throw new Error("out of order");
          },
        },
      };
      const { thread } = await begin({ model, tools } as never);
      const parts = shown(await listOf(thread.say("go")));
      expect(parts.slice(0, 4)).toEqual(["call add", "call add", "call fail", "call none"]);
      // Tools that may fail differently are not waited for.
      expect(parts.slice(4, 8).sort()).toEqual([
        'result "There is no tool \\"none\\"." (error)',
        'result "out of order" (error)',
        "result 2",
        "result 3",
      ]);
      expect(parts.slice(8)).toEqual(["text Done", "end answered"]);
      expect(requests).toHaveLength(2);
      const { context } = await thread.run.state();
      expect(
        context.log
          .flat()
          .map(({ call, status }) => `${call} ${status}`)
          .sort(),
      ).toEqual([...["a done", "b done", "c failed", "d failed"]]);
      expect(renderLog(toolLogOf(context)).split("\n").sort()).toEqual([
        expect.stringMatching(/^add\(\{"n":1\}\) gave.*: 2$/),
        expect.stringMatching(/^add\(\{"n":2\}\) gave.*: 3$/),
        expect.stringMatching(/^fail\(\{\}\) failed.*: out of order$/),
        expect.stringMatching(/^none\(\{\}\) failed.*: There is no tool "none".$/),
      ]);
    });

    test("A6: asks people before it calls what they must agree to, and tells the model what they decided", async () => {
      const sent: string[] = [];
      const tools = { mail: { run: ({ to }: { to: string }) => void sent.push(to) } };
      const { model, requests } = scripted(
        { parts: [call("a", "mail", { to: "ada" }), call("b", "mail", { to: "bob" })] },
        text("Sent one"),
      );
      const mayDecide = ({ by }: { by?: string }) => by === "boss";
      const { thread } = await begin({ model, tools, approve: ["mail"], mayDecide } as never);
      const parts: TurnPart[] = [];
      for await (const part of thread.say("mail them")) {
        parts.push(part);
        if (part.type !== "approval") continue;
        await expect(thread.approve("a", { by: "mallory" })).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
        await expect(thread.approve("z", { by: "boss" })).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
        expect(sent).toEqual([]);
        await thread.reject("b", { by: "boss", note: "He left." });
        expect((await thread.asked()).map(({ id }) => id)).toEqual(["a"]);
        await thread.approve("a", { by: "boss" });
        await expect(thread.approve("a", { by: "boss" })).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
      }
      expect(sent).toEqual(["ada"]);
      expect(shown(parts)).toEqual([
        ...["call mail", "call mail", "approval a,b"],
        'result "The call was not approved. It did not happen. He left." (error)',
        ...["result null", "text Sent one", "end answered"],
      ]);
      expect(requests).toHaveLength(2);
    });

    test("A6: calls nothing that nobody decides on in time", async () => {
      const { model } = scripted({ parts: [call("a", "mail")] }, text("Never mind"));
      const tools = { mail: { run: () => expect.unreachable() } };
      const { thread, clock, rest } = await begin({
        model,
        tools,
        approve: ["mail"],
        decideWithin: "2h",
      } as never);
      const answer = thread.say("mail").answer();
      await rest();
      await clock.advance("2h");
      expect(await answer).toBe("Never mind");
    });

    test("A6: plans before it thinks, and has its answers looked at before they count", async () => {
      const { model, requests } = scripted(text("4"), text("5"), text("six"));
      const verdicts = [
        { verdict: "revise", note: "Too small." },
        { verdict: "replan", note: "In words." },
        { verdict: "accept" },
      ] as const;
      let looks = 0;
      let plans = 0;
      const { thread } = await begin({
        model,
        plan: ({ said }: { said: string }) => ({ goal: said, steps: [`step ${++plans}`] }),
        reflect: () => verdicts[looks++] ?? expect.unreachable(),
      } as never);
      expect(await thread.say("How many?").answer()).toBe("six");
      const { working, turn, ended } = (await thread.run.state()).context;
      expect(working).toMatchObject({ goal: "How many?", plan: { revision: 1 } });
      expect(working.plan.tasks.map(({ title }) => title)).toEqual(["step 2"]);
      expect([turn, ended]).toMatchObject([{ thoughts: 3, revisions: 2 }, { outcome: "answered" }]);
      expect(requests.map(({ messages }) => textOf(messages.at(-1) ?? { parts: [] }))).toEqual([
        ...["How many?", "Too small.", "In words."],
      ]);
    });

    test("A6: a turn that has used up its budget ends with the reason, and the thread can go on", async () => {
      const more = () => ({ parts: [call("x", "look")], usage: { input: 40, output: 10 }, cost: 0.2 });
      const tools = { look: { run: () => "nothing" } };
      for (const [budget, what] of [
        [{ steps: 2 }, "2 of 2 steps"],
        [{ tokens: 120 }, "150 of 120 tokens"],
        [{ cost: 0.5 }, "of 0.5 cost"],
      ] as const) {
        const { thread } = await begin({
          model: scripted(more, more, more, more).model,
          tools,
          budget,
        } as never);
        await expect(thread.say("look").answer()).rejects.toMatchObject({
          ...{ code: "TURN_UNANSWERED", message: expect.stringContaining(what) },
        });
        expect(await thread.run.state()).toMatchObject({ configuration: ["error"] });
        expect(shown(await listOf(thread.say("again"))).at(-1)).toMatch(/^end/);
      }
    });

    test("A6: a model that fails for good ends the turn, and the thread can go on", async () => {
      const model: Model = ({ messages }) => {
        if (messages.length === 1) throw Object.assign(new Error("no credit"), { retryable: false });
        return text("back");
      };
      const { thread } = await begin({ model });
      expect(shown(await listOf(thread.say("a")))).toEqual(["end failed"]);
      expect(await thread.say("b").answer()).toBe("back");
    });

    test("A6: streams what the model says; who comes back hears the rest, and who was heard by a crash is not heard twice", async () => {
      let begun = 0;
      const go = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const said = ["One, two, thr", "ee, four."];
      const model: Model = async (_, { say }) => {
        begun++;
        say({ type: "text", text: said[0] as string });
        await go[begun - 1]?.promise;
        say({ type: "text", text: said[1] as string });
        return text(said.join(""));
      };
      const { thread, agent, runtime, clock, rest, crash, boot } = await begin({ model });
      const parts: TurnPart[] = [];
      const listening = thread.say("Count", { id: "m" });
      const first = (async () => {
        for await (const part of listening) {
          parts.push(part);
          break;
        }
      })();
      await rest();
      await clock.advance(50);
      await first;
      expect(shown(parts)).toEqual(["text One, two, thr"]);
      await crash(runtime);
      const next = await (await boot([agent])).thread(agent, { id: "t" });
      const cursor = (parts[0] as TurnPart).cursor;
      const rest_ = (async () => {
        for await (const part of next.listen(cursor)) {
          parts.push(part);
          if (part.type === "end") return;
        }
      })();
      await rest();
      await clock.advance(50);
      go[1].resolve();
      await rest();
      await clock.advance(50);
      await rest_;
      expect(begun).toBe(2);
      expect(parts.map((part) => part.text).join("")).toBe("One, two, three, four.");
      expect(shown(parts).at(-1)).toBe("end answered");
    });

    test("A6: a model that says something else when it is asked again is announced", async () => {
      const model: Model = async (_, { say }) => {
        say({ type: "text", text: "Perhaps" });
        return text("No");
      };
      const { thread, clock, rest } = await begin({ model });
      const parts = listOf(thread.say("Is it?"));
      await rest();
      await clock.advance(50);
      expect(shown(await parts)).toEqual(["text Perhaps", "restart ", "text No", "end answered"]);
    });

    test("C1: hears something else instead of what was said, and keeps both", async () => {
      const { model, requests } = scripted(text("Paris"), text("Rome"));
      const { thread } = await begin({ model });
      await thread.say("France?", { id: "q" }).answer();
      expect(await thread.say("Italy?", { id: "r", instead: "q" }).answer()).toBe("Rome");
      expect(requests[1]?.messages.map(textOf)).toEqual(["Italy?"]);
      expect((await thread.messages()).map(textOf)).toEqual(["Italy?", "Rome"]);
      expect(allMessages((await thread.run.state()).context.thread)).toHaveLength(4);
    });

    test("F5: what is no message, or has the id of another, is refused and changes nothing", async () => {
      const { thread } = await begin({ model: scripted(text("1")).model });
      await thread.say("one", { id: "m" }).answer();
      const before = await thread.run.state();
      for (const [data, key] of [
        [{ id: "m", parts: [{ type: "text", text: "other" }] }, "other key"],
        [{ id: "n", parts: "text" }, "n"],
        [{ id: "n", parts: [{ type: "text", text: "x" }], instead: "nobody" }, "o"],
      ] as const)
        expect(await (await thread.run.send("say", data as never, { key })).handled()).toMatchObject({
          outcome: "refused",
        });
      await expect(thread.say([{ type: "strange" } as never]).heard).rejects.toMatchObject({
        code: "MESSAGE_INVALID",
      });
      expect(await thread.run.state()).toEqual(before);
    });

    test("C8: hands a conversation to another agent, which goes on with all that was said; twice is once", async () => {
      const { model: first } = scripted(text("I am the desk."));
      const { model: second, requests } = scripted(text("I am billing."));
      const here = await world();
      const [desk, billing] = [first, second].map((model, index) =>
        defineAgent({ id: ["desk", "billing"][index] as string, model }),
      ) as [ReturnType<typeof defineAgent>, ReturnType<typeof defineAgent>];
      const runtime = await here.boot([desk, billing]);
      const thread = await runtime.thread(desk, { id: "t", user: "ada" });
      await thread.say("My bill is wrong.", { id: "m" }).answer();
      const next = await thread.handOver(billing);
      expect((await thread.handOver(billing)).id).toBe(next.id);
      await expect(thread.handOver(billing, { id: "other" })).rejects.toMatchObject({ code: "AGENT_BUSY" });
      await expect(thread.say("Hello?").heard).rejects.toMatchObject({ code: "RUN_ENDED" });
      expect(await next.say("Can you help?").answer()).toBe("I am billing.");
      expect(requests[0]?.messages.map(textOf)).toEqual([
        ...["My bill is wrong.", "I am the desk.", "Can you help?"],
      ]);
      expect([(await next.run.head()).subject, (await thread.run.finished()).output]).toEqual([
        "ada",
        { to: next.id },
      ]);
    });

    test("A6: cannot be spoken to once it is closed", async () => {
      const { thread } = await begin({});
      await thread.close();
      await expect(thread.say("Hello?").heard).rejects.toMatchObject({ code: "RUN_ENDED" });
    });

    describe("that is busy", () => {
      /** A model that answers when it is told to. */
      const slow = () => {
        const answers: ((answer: ModelAnswer) => void)[] = [];
        const seen: string[][] = [];
        const model: Model = ({ messages }) => {
          seen.push(messages.map((message) => `${message.role}: ${textOf(message)}`));
          return new Promise((resolve) => void answers.push(resolve));
        };
        return { model, answers, seen };
      };

      test("C1: refuses what is said meanwhile, and goes on", async () => {
        const { model, answers } = slow();
        const { thread, rest } = await begin({ model });
        const first = thread.say("one").answer();
        await rest();
        await expect(thread.say("two").heard).rejects.toMatchObject({ code: "AGENT_BUSY" });
        answers[0]?.(text("1"));
        expect(await first).toBe("1");
        expect((await thread.messages()).map(textOf)).toEqual(["one", "1"]);
      });

      test("C1: keeps what is said meanwhile for later, in order", async () => {
        const { model, answers } = slow();
        const { thread, rest } = await begin({ model, whenBusy: "enqueue" });
        const first = thread.say("one").answer();
        await rest();
        const [second, third] = [thread.say("two").answer(), thread.say("three").answer()];
        for (const number of ["1", "2", "3"]) {
          await rest();
          answers.at(-1)?.(text(number));
        }
        expect(await Promise.all([first, second, third])).toEqual(["1", "2", "3"]);
        expect((await thread.messages()).map(textOf)).toEqual(["one", "1", "two", "2", "three", "3"]);
      });

      test("C1: is interrupted by what is said, with its open calls closed", async () => {
        const tools = {
          dig: {
            run: (_: never, { signal }: { signal: AbortSignal }) =>
              new Promise((_, no) => signal.addEventListener("abort", no)),
          },
        };
        const { model, requests } = scripted({ parts: [call("a", "dig")] }, text("Stopped digging"));
        const { thread, rest } = await begin({ model, tools, whenBusy: "interrupt" } as never);
        const first = thread.say("dig").answer();
        first.catch(() => {});
        await rest();
        expect(await thread.say("stop").answer()).toBe("Stopped digging");
        expect(requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
        expect(requests[1]?.messages[2]?.parts).toMatchObject([{ type: "result", call: "a", isError: true }]);
      });

      test("C1: takes back what was said before as if it had never been, and keeps it as a branch", async () => {
        const { model, answers, seen } = slow();
        const { thread, rest } = await begin({ model, whenBusy: "rollback" });
        thread
          .say("one")
          .answer()
          .catch(() => {});
        await rest();
        const second = thread.say("two").answer();
        await rest();
        answers[1]?.(text("2"));
        expect(await second).toBe("2");
        expect(seen[1]).toEqual(["user: two"]);
        expect((await thread.messages()).map(textOf)).toEqual(["two", "2"]);
        expect(allMessages((await thread.run.state()).context.thread).map(textOf)).toEqual([
          ...["one", "two", "2"],
        ]);
      });

      test("A6: can be stopped, keeps what it said so far, and can be spoken to again", async () => {
        const model: Model = async ({ messages }, { say, signal }) => {
          if (messages.length > 1) return text("Yes?");
          say({ type: "text", text: "Once upon a" });
          return new Promise((_, no) => signal.addEventListener("abort", no));
        };
        const { thread, rest, clock } = await begin({ model });
        const parts = listOf(thread.say("Tell me a story"));
        await rest();
        await clock.advance(50);
        await rest();
        await thread.stop();
        expect(shown(await parts)).toEqual(["text Once upon a", "end stopped"]);
        expect(await thread.say("Hello?").answer()).toBe("Yes?");
        expect((await thread.messages()).map(textOf)).toEqual([
          ...["Tell me a story", "Once upon a", "Hello?", "Yes?"],
        ]);
      });

      test("A6: keeps what it said so far once, however many listen to it", async () => {
        const model: Model = async (_, { say, signal }) => {
          say({ type: "text", text: "Once upon a" });
          return new Promise((_, no) => signal.addEventListener("abort", no));
        };
        const { thread, rest, clock } = await begin({ model });
        const saying = thread.say("Tell us a story");
        const parts = [listOf(saying), listOf(saying)];
        await rest();
        await clock.advance(50);
        await rest();
        await thread.stop();
        for (const heard of await Promise.all(parts))
          expect(shown(heard)).toEqual(["text Once upon a", "end stopped"]);
        expect((await thread.messages()).map(textOf)).toEqual(["Tell us a story", "Once upon a"]);
      });
    });
  });
});
