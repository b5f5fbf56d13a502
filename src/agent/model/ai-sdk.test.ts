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

/** A model that streams what it is given, one stream after another, and keeps what it was asked with. */
function streaming(...streams: readonly object[][]) {
  const prompts: unknown[][] = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
  const model = {
    ...scriptedModel(() => ({})),
    doStream: async ({ prompt }: { prompt: unknown[] }) => {
      const chunks = streams[prompts.push(prompt) - 1] ?? [];
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...chunks, finish]) };
    },
  };
  return { model: model as never, prompts };
}

const block = (type: "text" | "reasoning", id: string, delta: string, providerMetadata?: object) => [
  { type: `${type}-start`, id },
  { type: `${type}-delta`, id, delta },
  { type: `${type}-end`, id, ...(providerMetadata === undefined ? {} : { providerMetadata }) },
];

test("D4: what a provider says of each block goes back to it with that block: signatures, and thinking it hides", async () => {
  const { model, prompts } = streaming(
    [
      ...block("reasoning", "1", "think A", { anthropic: { signature: "SIG A" } }),
      ...block("reasoning", "2", "think B", { anthropic: { signature: "SIG B" } }),
      ...block("reasoning", "3", "", { anthropic: { redactedData: "RED" } }),
      ...block("text", "t", "Let me look.", { openai: { itemId: "msg_1" } }),
      {
        ...{ type: "tool-call", toolCallId: "c1", toolName: "look", input: "{}" },
        providerMetadata: { google: { thoughtSignature: "TS" } },
      },
    ],
    block("text", "t", "Fine."),
    block("text", "t", "Fine again."),
  );
  const agent = defineAgent({ id: "a", model, tools: { look: { run: () => 1 } }, retry: { attempts: 1 } });
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const thread = await runtime.thread(agent);
  expect(await thread.say("Go").answer()).toBe("Fine.");
  expect(await thread.say("And?").answer()).toBe("Fine again.");
  for (const prompt of prompts.slice(1))
    expect(prompt[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "reasoning", text: "think A", providerOptions: { anthropic: { signature: "SIG A" } } },
        { type: "reasoning", text: "think B", providerOptions: { anthropic: { signature: "SIG B" } } },
        { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "RED" } } },
        { type: "text", text: "Let me look.", providerOptions: { openai: { itemId: "msg_1" } } },
        { type: "tool-call", toolCallId: "c1", providerOptions: { google: { thoughtSignature: "TS" } } },
      ],
    });
  expect((await thread.messages())[1]?.parts[0]).toEqual({
    ...{ type: "thinking", text: "think A", signature: "SIG A" },
  });
  await runtime.close();
});

test("D4: a call whose id the thread has already keeps its signature under its new one", async () => {
  const call = (thoughtSignature: string) => [
    {
      ...{ type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" },
      providerMetadata: { google: { thoughtSignature } },
    },
  ];
  const { model, prompts } = streaming(call("ONE"), call("TWO"), block("text", "t", "Fine."));
  await talk(defineAgent({ id: "a", model, tools: { look: { run: () => 1 } } }), "Go");
  expect(prompts[2]).toMatchObject([
    { role: "user" },
    { content: [{ toolCallId: "c", providerOptions: { google: { thoughtSignature: "ONE" } } }] },
    { role: "tool" },
    { content: [{ toolCallId: "c_2", providerOptions: { google: { thoughtSignature: "TWO" } } }] },
    { role: "tool" },
  ]);
});

test("D4: what the provider's own tools did is no call of the agent's, and goes back as it was", async () => {
  const { model, prompts } = streaming(
    [
      {
        type: "tool-call",
        toolCallId: "s",
        toolName: "search",
        input: "{}",
        providerExecuted: true,
        dynamic: true,
      },
      { type: "tool-result", toolCallId: "s", toolName: "search", result: ["hit"], dynamic: true },
      ...block("text", "t", "Found."),
    ],
    block("text", "t", "Fine."),
  );
  const agent = defineAgent({ id: "a", model, retry: { attempts: 1 } });
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const thread = await runtime.thread(agent);
  expect(await thread.say("Go").answer()).toBe("Found.");
  expect(await thread.say("And?").answer()).toBe("Fine.");
  expect(prompts[1]?.[1]).toMatchObject({
    content: [
      { type: "tool-call", toolCallId: "s", providerExecuted: true },
      { type: "tool-result", toolCallId: "s", output: { type: "json", value: ["hit"] } },
      { type: "text", text: "Found." },
    ],
  });
  await runtime.close();
});

test.each(["", " \n"])(
  "D4: messages that say nothing, as %j, go to no provider, whoever said them",
  async (nothing) => {
    const prompts: unknown[] = [];
    const model = scriptedModel(({ options }) => ({
      text: prompts.push(options.prompt) === 2 ? nothing : "ok",
    }));
    const agent = defineAgent({ id: "a", model, instructions: "Be kind.", retry: { attempts: 1 } });
    const runtime = await createRuntime({ store: memory(), machines: [agent] });
    const thread = await runtime.thread(agent);
    expect(await thread.say(nothing).answer()).toBe("ok");
    expect((await thread.say("b").answer()).trim()).toBe("");
    expect(await thread.say([]).answer()).toBe("ok");
    expect(prompts[2]).toMatchObject([
      { role: "system" },
      { role: "assistant", content: [{ text: "ok" }] },
      { role: "user", content: [{ text: "b" }] },
    ]);
    await runtime.close();
  },
);

test("D4: a file that nobody can fetch is refused at the door; one that is gone later keeps nobody silent", async () => {
  const said: string[][] = [];
  const model = scriptedModel(({ said: messages }) => {
    said.push(messages.map(({ text }) => text));
    return { text: "ok" };
  });
  const agent = defineAgent({ id: "a", model, retry: { attempts: 1 } });
  const runtime = await createRuntime({ store: memory(), machines: [agent] });
  const thread = await runtime.thread(agent);
  const file = (where: object) => [{ type: "file", mediaType: "image/png", ...where }] as never;
  for (const where of [
    { url: "/uploads/cat.png" },
    { url: "cat.png" },
    { url: "C:\\cat.png" },
    { url: "file:///cat.png" },
    { url: "https://" },
    { url: 7 },
    { data: "https://example.com/cat.png" },
    { data: "" },
  ])
    await expect(thread.say(file(where)).heard).rejects.toMatchObject({
      code: "MESSAGE_INVALID",
      message: expect.stringMatching(/parts\[0\]: its (url|data) is/),
    });
  expect(await thread.say("hello").answer()).toBe("ok");
  await expect(thread.say(file({ url: "http://127.0.0.1:1/cat.png" })).answer()).rejects.toMatchObject({
    code: "TURN_UNANSWERED",
  });
  expect(await thread.say("hello?").answer()).toBe("ok");
  expect(said.at(-1)).toContain("[A file that cannot be shown: image/png, http://127.0.0.1:1/cat.png]");
  await runtime.close();
});

const callThenTell = (name: string) =>
  scriptedModel(({ said }) =>
    said.at(-1)?.role === "tool"
      ? { text: said.at(-1)?.text ?? "" }
      : { calls: [{ tool: name, input: { sum: 5 } }] },
  );

test.each([
  ["always", true, ["approval"]],
  ["for such an input", ({ sum }: { sum: number }) => sum > 4, ["approval"]],
  ["for others only", async ({ sum }: { sum: number }) => sum > 5, []],
])(
  "D4: a tool of the AI SDK that needs approval %s is called as it says",
  async (_, needsApproval, asked) => {
    let runs = 0;
    const pay = tool({
      inputSchema: z.object({ sum: z.number() }),
      needsApproval: needsApproval as never,
      execute: async () => ++runs,
    });
    const agent = defineAgent({ id: "a", model: callThenTell("pay"), tools: { pay } });
    const runtime = await createRuntime({ store: memory(), machines: [agent] });
    const thread = await runtime.thread(agent);
    const heard: string[] = [];
    for await (const part of thread.say("Pay")) {
      heard.push(part.type);
      if (part.type === "approval") await thread.reject("call-1-1");
    }
    expect(heard.filter((type) => type === "approval")).toEqual(asked);
    expect(runs).toBe(1 - asked.length);
    await runtime.close();
  },
);

test("D4: what is said of a tool besides holds for one of the AI SDK as well", async () => {
  let runs = 0;
  const execute = async (): Promise<number> => {
    runs++;
    throw new Error("network");
  };
  const inputSchema = z.object({ sum: z.number() });
  const fails = tool({ inputSchema, execute });
  for (const pay of [
    { ...fails, once: true },
    { ...fails, retry: { attempts: 1 } },
  ]) {
    runs = 0;
    const parts = await talk(defineAgent({ id: "a", model: callThenTell("pay"), tools: { pay } }), "Pay");
    expect(runs).toBe(1);
    expect(parts.find((part) => part.type === "result")).toMatchObject({ result: { output: "network" } });
  }
});

test("D4: a tool of the AI SDK that tells how it comes along gives its result last", async () => {
  const count = tool({
    inputSchema: z.object({ sum: z.number() }),
    execute: async function* ({ sum }) {
      yield { status: "counting", sum: 0 };
      yield { status: "done", sum };
    },
  });
  const parts = await talk(defineAgent({ id: "a", model: callThenTell("count"), tools: { count } }), "Count");
  expect(parts.find((part) => part.type === "result")).toMatchObject({
    result: { output: { status: "done", sum: 5 } },
  });
});
