/** Models of the AI SDK, asked through its own interface. */
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { scriptedModel } from "../../../examples/agents/scripted-model.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { createRuntime } from "../../index.ts";
import { memory } from "../../store/memory/index.ts";
import { defineAgent } from "../lifecycle/agent.ts";
import type { TurnPart } from "../lifecycle/turn-part.ts";

async function talk(agent: ReturnType<typeof defineAgent>, said: string): Promise<TurnPart[]> {
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const parts: TurnPart[] = [];
  for await (const part of (await runtime.thread(agent)).say(said)) parts.push(part);
  await runtime.close();
  return parts;
}

test("D4: a model of the AI SDK speaks word by word, is told of its tools, and sees what they gave", async () => {
  const asked: { tools: unknown; last: unknown }[] = [];
  const model = scriptedModel(({ said, options }) => {
    asked.push({ tools: options.tools, last: options.prompt.at(-1) });
    return said.at(-1)?.role === "tool"
      ? { text: "It is 12 degrees." }
      : { text: "Let me look.", calls: [{ tool: "weather", input: { city: "Oslo" } }] };
  });
  const weather = tool({
    description: "Says how warm it is",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }, { toolCallId }) => ({ city, degrees: 12, call: toolCallId }),
  });
  const parts = await talk(defineAgent({ id: "a", model, tools: { weather } }), "How warm is it?");
  expect(parts.flatMap(({ text }) => (text === "" ? [] : [text]))).toEqual([
    ...["Let ", "me ", "look.", "It ", "is ", "12 ", "degrees."],
  ]);
  expect(asked[0]?.tools).toMatchObject([
    { type: "function", name: "weather", inputSchema: { properties: { city: { type: "string" } } } },
  ]);
  expect(asked[1]?.last).toMatchObject({
    role: "tool",
    content: [{ type: "tool-result", toolName: "weather", output: { value: { city: "Oslo", degrees: 12 } } }],
  });
});

test("D4: an input that does not fit the tool's schema never reaches it, and the model is told why", async () => {
  const model = scriptedModel(({ said }) =>
    said.at(-1)?.role === "tool"
      ? { text: said.at(-1)?.text ?? "" }
      : { calls: [{ tool: "weather", input: { town: 7 } }] },
  );
  const weather = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async (): Promise<string> => expect.unreachable(),
  });
  const parts = await talk(defineAgent({ id: "a", model, tools: { weather } }), "How warm is it?");
  const result = parts.find((part) => part.type === "result");
  expect(result).toMatchObject({
    result: { isError: true, output: expect.stringContaining("The input does not fit") },
  });
  expect(parts.at(-1)).toMatchObject({ type: "end", outcome: "answered" });
});

test("D4: models plan and look back as well; what is not what they were asked for is asked for again", async () => {
  const answers = [
    "I would look first.",
    'Here: {"goal":"answer","steps":[{"id":"a","title":"look"},{"id":"b","title":"tell","needs":["a"]}]}',
  ];
  const verdicts = ['{"verdict":"revise","note":"In degrees."}', '{"verdict":"accept"}'];
  const asked: string[] = [];
  const planner = scriptedModel(({ said }) => {
    asked.push(said.map(({ text }) => text).join("\n"));
    return { text: answers.shift() ?? "" };
  });
  const critic = scriptedModel(() => ({ text: verdicts.shift() ?? "" }));
  const model = scriptedModel(({ said }) => ({
    text: said.at(-1)?.text === "In degrees." ? "12 degrees" : "Cold",
  }));
  const agent = defineAgent({ id: "a", model, plan: planner, reflect: critic });
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const thread = await runtime.thread(agent);
  expect(await thread.say("How warm is it?").answer()).toBe("12 degrees");
  expect(asked).toHaveLength(2);
  expect(asked[0]).toContain("User: How warm is it?");
  expect((await thread.run.state()).context.working).toMatchObject({
    goal: "answer",
    plan: { tasks: [{ id: "a" }, { id: "b", needs: ["a"] }] },
  });
  await runtime.close();
});

test("D4: a tool whose input is a schema of Holdfast's own is told to the model as what it is", async () => {
  let told: unknown;
  const model = scriptedModel(({ options }) => {
    told = options.tools;
    return { text: "Fine." };
  });
  const input = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
  await talk(defineAgent({ id: "a", model, tools: { weather: { input, run: () => 1 } } }), "Hello?");
  expect(told).toMatchObject([
    { name: "weather", inputSchema: { properties: { city: { type: "string" } }, required: ["city"] } },
  ]);
});

test("D4: a provider that fails ends the turn with what it said, and what is no model is refused at once", async () => {
  const model = scriptedModel(() => {
    throw Object.assign(new Error("quota exceeded"), { retryable: false });
  });
  const parts = await talk(defineAgent({ id: "a", model, retry: { attempts: 1 } }), "Hello?");
  expect(parts).toMatchObject([{ type: "end", outcome: "failed", reason: { message: "quota exceeded" } }]);
  expect(() => defineAgent({ id: "a", model: {} as never })).toThrow("has no model that can be asked");
  expect(() => defineAgent({ id: "a", model, tools: { none: {} as never } })).toThrow("has nothing to do");
  expect(() => defineAgent({ id: "a", model, approve: ["none"] as never })).toThrow("none of its tools");
});
