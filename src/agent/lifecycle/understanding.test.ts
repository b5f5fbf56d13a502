/** Agents that know what "it" means and what the conversation is about, without a model and with one. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../examples/agents/scripted-model.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import type { ModelAnswer, ModelRequest } from "../model/model.ts";
import { readEnglish } from "../thread/english.ts";
import { textOf } from "../thread/message.ts";
import { estimate } from "../window/tokens.ts";
import { type AgentDefinition, defineAgent } from "./agent.ts";
import { reportOf } from "./report.ts";

const text = (text: string): ModelAnswer => ({ parts: [{ type: "text", text }] });

onEveryStore((world) => {
  const begin = async (definition: Partial<AgentDefinition<Record<string, never>>>) => {
    const here = await world();
    const requests: ModelRequest[] = [];
    const model = (request: ModelRequest) => {
      requests.push(request);
      return text("Done.");
    };
    const agent = defineAgent({ id: "helper", model, ...definition } as never);
    const runtime = await here.boot([agent]);
    const thread = await agent.openThread(runtime, { id: "t" });
    const seen = () => textOf(requests.at(-1)?.messages.at(-1) ?? { parts: [] });
    return { ...here, agent, runtime, thread, requests, seen };
  };

  test("C1: what a phrase means is told to the model beside the user's words, and to the planner", async () => {
    const planned: unknown[] = [];
    const { thread, seen, requests } = await begin({
      references: { read: readEnglish },
      plan: ({ said, meant }) => {
        planned.push(meant.map(({ phrase, entity }) => [phrase, entity]));
        return { goal: said, steps: ["do it"] };
      },
      instructions: "Be kind.",
    });
    await thread.say("Please create notes.txt and draft.md.").answer();
    expect(seen()).toBe("Please create notes.txt and draft.md.");
    await thread.say("Rename the second one.", { id: "m" }).answer();
    expect(seen()).toBe('Rename the second one.\n\n["the second one" here means "draft.md"]');
    expect(planned).toEqual([[], [["the second one", "draft.md"]]]);
    // It is said beside the user's words: names come from anybody, and must not gain weight.
    const told = requests.at(-1)?.messages.find(({ role }) => role === "system");
    expect(textOf(told ?? { parts: [] })).not.toContain("here means");
    // What was said is kept as it was said.
    expect((await thread.messages()).map(textOf)).toContain("Rename the second one.");
    expect(reportOf(await thread.run.state())?.turn.meant).toMatchObject([
      { phrase: "the second one", entity: "draft.md", asked: false },
    ]);
  });

  test("C1: what the agent named counts as well, and all of it survives a crash", async () => {
    const here = await begin({
      references: { read: readEnglish },
      model: (request: ModelRequest) =>
        request.messages.length === 1 ? text("I found config.yaml.") : text("Deleted."),
    } as never);
    await here.thread.say("Look for the settings.").answer();
    await here.crash(here.runtime);
    const next = await (await here.boot([here.agent])).thread(here.agent, { id: "t" });
    await next.say("Delete that file.").answer();
    expect((await next.run.state()).context.turn.meant).toMatchObject([
      { phrase: "that file", entity: "config.yaml" },
    ]);
  });

  test("C1: a resolver is asked where the margin is small, and only one of the candidates counts", async () => {
    const asked: unknown[] = [];
    const answers = ["left.txt", "nonsense"];
    const { thread } = await begin({
      references: {
        read: readEnglish,
        marginMin: 0.9,
        resolver: async ({ phrase, candidates }) => {
          asked.push([phrase, [...candidates].sort()]);
          return answers.shift();
        },
      },
    });
    await thread.say("Open left.txt and right.txt.").answer();
    expect(asked).toEqual([]);
    const meant = async () => (await thread.run.state()).context.turn.meant;
    await thread.say("Delete that file.").answer();
    expect(asked).toEqual([["that file", ["left.txt", "right.txt"]]]);
    expect(await meant()).toMatchObject([{ entity: "left.txt", asked: true }]);
    await thread.say("Delete that file.").answer();
    expect((await meant())[0]?.entity).not.toBe("nonsense");
  });

  test("C1: an agent whose resolver fails answers all the same", async () => {
    const { thread, rest, clock, seen } = await begin({
      references: {
        read: () => {
          throw Object.assign(new Error("no"), { retryable: false });
        },
      },
    });
    const answer = thread.say("Delete it.").answer();
    await rest();
    await clock.advance("1m");
    expect(await answer).toBe("Done.");
    expect(seen()).toBe("Delete it.");
  });

  test("C2: with what it means beside it, a window is still within its budget", async () => {
    const count = estimate();
    const { thread, requests } = await begin({
      references: { read: readEnglish },
      window: { budget: 120, count, keepRecent: 1 },
    });
    for (let turn = 0; turn < 6; turn++) {
      await thread.say("Please create notes.txt and draft.md and then wait for me.").answer();
      await thread.say("Rename the second one, and remove the first one.").answer();
      const tokens = requests.at(-1)?.messages.reduce((sum, message) => sum + count.message(message), 0);
      expect(tokens).toBeLessThanOrEqual(120);
    }
  });

  test("C1: topics are kept in the state, told to the planner, and hold what belongs to them in the window", async () => {
    const topics: (string | undefined)[] = [];
    const { thread, requests } = await begin({
      topics: true,
      plan: ({ topic }) => {
        topics.push(topic);
        return { goal: "", steps: [] };
      },
      window: { budget: 260, count: estimate(), keepRecent: 1, summarise: () => "They talked." },
    });
    await thread.say("The migration of the orders table failed in production.").answer();
    await thread.say("Why did the migration fail on that orders table?").answer();
    const chat = "which restaurant near the harbour is open for dinner on Sunday?";
    await thread.say(`By the way, ${chat}`).answer();
    for (let turn = 1; turn < 8; turn++) await thread.say(`And ${chat}`).answer();
    await thread.say("Back to the migration: can the orders table be restored?").answer();
    expect(topics[0]).toContain("migration");
    expect(topics.at(-1)).toContain("migration");
    expect(topics.at(-2)).toContain("restaurant");
    const report = reportOf(await thread.run.state());
    expect(report?.topics).toMatchObject([
      { id: 0, isCurrent: true, stretches: [{ from: 0, to: 1 }, { from: 10 }] },
      { id: 1, isCurrent: false },
    ]);
    const said = requests.at(-1)?.messages.map(textOf) ?? [];
    expect(said.some((one) => one.startsWith("Why did the migration"))).toBe(true);
    expect(said.filter((one) => one.includes("restaurant")).length).toBeLessThan(8);
  });

  test("C1: what is said often is told once, and leaves room for what the user said", async () => {
    const window = { budget: 2_000, count: estimate() };
    const { thread, requests } = await begin({ references: { read: readEnglish }, window });
    await thread.say("Please open notes.txt.").answer();
    await thread.say("Read it and close it. ".repeat(150)).answer();
    const shown = textOf(requests.at(-1)?.messages.at(-1) ?? { parts: [] });
    expect(shown.split("here means")).toHaveLength(2);
  });

  test("C1: a model of the AI SDK is told as well", async () => {
    const prompts: string[] = [];
    const { thread } = await begin({
      references: { read: readEnglish },
      model: scriptedModel(({ said }) => {
        prompts.push(said.at(-1)?.text ?? "");
        return { text: "Fine." };
      }),
    } as never);
    await thread.say("Open report.pdf, please.").answer();
    await thread.say("Print it.").answer();
    expect(prompts.at(-1)).toContain('"it" here means "report.pdf"');
  });
});
