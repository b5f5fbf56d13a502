/** Formats of others: there and back without loss, wedged threads repaired, errors that name their place. */
import { type ModelMessage, modelMessageSchema } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import type { Message, Part, ResultPart } from "../thread/message.ts";
import { append, emptyThread, messagesOf } from "../thread/thread.ts";
import { reasons } from "../thread/unit.ts";
import { fromAiSdk, toAiSdk } from "./ai-sdk.ts";
import { fromAnthropic, toAnthropic } from "./anthropic.ts";
import { fromOpenAI, toOpenAI } from "./openai.ts";

const at = 0;
// A text of blanks alone says nothing, and is left out on purpose.
const some = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== "");
const textPart = some.map((text): Part => ({ type: "text", text }));
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));
const image = base64.map((data): Part => ({ type: "file", mediaType: "image/png", data }));
const pdf = base64.map((data): Part => ({ type: "file", mediaType: "application/pdf", data, name: "paper" }));
/** As text brings it: JSON has no -0, which a generator may well make. */
const input = fc
  .dictionary(some, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>)
  .map((value): Json => JSON.parse(JSON.stringify(value)));
const spoken = fc.record({
  thinking: fc.array(fc.record({ text: some, signature: some }), { maxLength: 1 }),
  texts: fc.array(textPart, { maxLength: 2 }),
  calls: fc.array(fc.record({ input, output: some, isError: fc.boolean() }), { maxLength: 3 }),
  user: fc.array(fc.oneof(textPart, image, pdf), { minLength: 1, maxLength: 3 }),
});

/** A conversation in which everything is in its place: texts first, then calls, then all results in one message. */
const conversations = fc.tuple(fc.option(some), fc.array(spoken, { maxLength: 4 })).map(([system, turns]) => {
  const messages: Omit<Message, "id" | "at">[] =
    system === null ? [] : [{ role: "system", parts: [{ type: "text", text: system }] }];
  for (const [turn, { thinking, texts, calls, user }] of turns.entries()) {
    messages.push({ role: "user", parts: user });
    const made = calls.map(
      ({ input: given }, index): Part => ({
        type: "call",
        id: `t${turn}_${index}`,
        tool: "look",
        input: given,
      }),
    );
    const thought = thinking.map((one): Part => ({ type: "thinking", ...one }));
    if (texts.length + made.length > 0)
      messages.push({ role: "assistant", parts: [...thought, ...texts, ...made] });
    const results = calls.map(
      ({ output, isError }, index): ResultPart => ({
        type: "result",
        call: `t${turn}_${index}`,
        tool: "look",
        output,
        ...(isError ? { isError } : {}),
      }),
    );
    if (results.length > 0) messages.push({ role: "tool", parts: results });
  }
  return messages.map((message, index): Message => ({ id: `m${index}`, at, ...message }));
});

/** What OpenAI's format has no place for. */
const withoutThinking = (messages: readonly Message[]): Message[] =>
  messages.map((message) => ({
    ...message,
    parts: message.parts.flatMap((part): Part[] => {
      if (part.type === "thinking") return [];
      if (part.type !== "result") return [part];
      return [{ type: "result", call: part.call, tool: part.tool, output: part.output }];
    }),
  }));

function expectAppendable(messages: readonly Message[]): void {
  const thread = emptyThread();
  for (const message of messages) append(thread, message);
  expect(messagesOf(thread)).toHaveLength(messages.length);
}

describe("there and back", () => {
  test("C2: through OpenAI's format nothing is lost but what it lists", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const { messages: written, left } = toOpenAI(messages);
        const { messages: read, repairs } = fromOpenAI(JSON.parse(JSON.stringify(written)), { at });
        expect(repairs).toEqual([]);
        expect(read).toEqual(withoutThinking(messages));
        const parts = messages.flatMap((message) => message.parts);
        const lost = parts.filter(
          (part) => part.type === "thinking" || (part.type === "result" && part.isError),
        );
        expect(left).toHaveLength(lost.length);
        expectAppendable(read);
      }),
    );
  });

  test("C2: through Anthropic's format nothing is lost", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const { left, ...prompt } = toAnthropic(messages);
        const { system, messages: written } = JSON.parse(JSON.stringify(prompt));
        const { messages: read, repairs } = fromAnthropic(
          system.length === 0 ? { messages: written } : { system, messages: written },
          { at },
        );
        expect([repairs, left]).toEqual([[], []]);
        expect(read).toEqual(messages);
        expectAppendable(read);
      }),
    );
  });

  test("C2: through the AI SDK's format nothing is lost, and its own schema takes it", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const written: ModelMessage[] = toAiSdk(messages);
        for (const message of written) modelMessageSchema.parse(message);
        const { messages: read, repairs } = fromAiSdk(written, { at });
        expect(repairs).toEqual([]);
        expect(read).toEqual(messages);
        expectAppendable(read);
      }),
    );
  });
});

describe("what only one format says goes out of it as it came in", () => {
  test("C2: OpenAI", () => {
    const messages = [
      { role: "developer", content: "Be brief.", name: "boss" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
          { type: "file", file: { file_id: "file-1" } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
          { type: "novelty", sparkle: [1] },
        ],
        name: "ada",
      },
      {
        role: "assistant",
        content: null,
        refusal: "no",
        tool_calls: [{ id: "c1", type: "function", function: { name: "run", arguments: "{not json" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done", name: "run" },
      { role: "assistant", content: "fine", annotations: [] },
    ];
    const { messages: read, repairs } = fromOpenAI(messages, { at, id: (index) => `x${index}` });
    expect(repairs).toEqual([]);
    expect(read.map(({ id }) => id)).toEqual(["x0", "x1", "x2", "x3", "x4"]);
    expect(read[2]?.parts).toEqual([{ type: "call", id: "c1", tool: "run", input: "{not json" }]);
    expect(toOpenAI(read)).toEqual({ messages, left: [] });
  });

  test("reasoning of those who speak it as a field is thinking, and results in parts are one text", () => {
    const { messages } = fromOpenAI(
      [
        {
          role: "assistant",
          content: "yes",
          reasoning_content: "hm",
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "" } }],
        },
        {
          role: "tool",
          tool_call_id: "c",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      ],
      { at },
    );
    expect(messages[0]?.parts.map(({ type }) => type)).toEqual(["thinking", "text", "call"]);
    expect(messages[1]?.parts).toEqual([{ type: "result", call: "c", tool: "f", output: "ab" }]);
  });

  test("C2: Anthropic", () => {
    const prompt = {
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            {
              type: "document",
              source: { type: "text", media_type: "text/plain", data: "née" },
              title: "note",
            },
            { type: "document", source: { type: "file", file_id: "f1" } },
            { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "sig" },
            { type: "redacted_thinking", data: "xyz" },
            {
              type: "tool_use",
              id: "c1",
              name: "look",
              input: { a: 1 },
              cache_control: { type: "ephemeral" },
            },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "c1",
              content: [{ type: "text", text: "seen" }],
              is_error: true,
            },
          ],
        },
        { role: "user", content: [{ type: "text", text: "go on" }] },
      ],
    };
    const { messages, repairs } = fromAnthropic(prompt, { at });
    expect(repairs).toEqual([]);
    expect(toAnthropic(messages)).toEqual({ ...prompt, left: [] });
  });

  test("Anthropic's results and words in one message are two messages here", () => {
    const { messages } = fromAnthropic(
      {
        system: "Be kind.",
        messages: [
          { role: "assistant", content: [{ type: "tool_use", id: "c", name: "look", input: {} }] },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "c" },
              { type: "text", text: "and?" },
            ],
          },
          { role: "user", content: "well?" },
        ],
      },
      { at },
    );
    expect(messages.map(({ role }) => role)).toEqual(["system", "assistant", "tool", "user", "user"]);
  });

  test("what Anthropic has no place for is listed", () => {
    const say = (id: string, role: Message["role"], ...parts: Part[]): Message => ({ id, role, at, parts });
    const { left, messages } = toAnthropic([
      say("a", "user", { type: "text", text: "hi" }),
      say("b", "system", { type: "text", text: "late rule" }),
      say("c", "assistant", { type: "thinking", text: "hm" }),
      say("d", "assistant", { type: "call", id: "c1", tool: "t", input: [1] }),
    ]);
    expect(left.map(({ message }) => message)).toEqual(["b", "c", "c", "d"]);
    expect(messages.at(-1)?.content).toEqual([
      { type: "tool_use", id: "c1", name: "t", input: { input: [1] } },
    ]);
  });

  test("C2: AI SDK", () => {
    const messages: ModelMessage[] = [
      { role: "system", content: "Be kind.", providerOptions: { x: { y: 1 } } },
      {
        role: "user",
        content: [
          {
            type: "file",
            mediaType: "image/png",
            data: new URL("https://example.org/a.png"),
            providerOptions: { x: {} },
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s", other: 1 } } },
          { type: "reasoning", text: "so", providerOptions: { openai: { itemId: "r" } } },
          { type: "custom", kind: "x.y" },
          { type: "tool-call", toolCallId: "c0", toolName: "web", input: {}, providerExecuted: true },
          { type: "tool-result", toolCallId: "c0", toolName: "web", output: { type: "json", value: [1] } },
          { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { n: 1 } },
          { type: "tool-call", toolCallId: "c2", toolName: "pay", input: { n: 2 } },
          { type: "tool-call", toolCallId: "c3", toolName: "pay", input: { n: 3 } },
          { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-approval-response", approvalId: "a1", approved: false },
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "pay",
            output: { type: "execution-denied", reason: "too dear" },
          },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "pay",
            output: { type: "content", value: [{ type: "text", text: "ok" }] },
          },
          {
            type: "tool-result",
            toolCallId: "c3",
            toolName: "pay",
            output: { type: "error-json", value: { code: 7 } },
          },
        ],
      },
    ];
    const { messages: read, repairs } = fromAiSdk(messages, { at });
    expect(repairs).toEqual([]);
    expect(read[3]?.parts[0]).toMatchObject({ output: "too dear", isError: true });
    expect(toAiSdk(read)).toEqual(messages);
  });

  test("content of files comes in every way the AI SDK has", () => {
    const bytes = new TextEncoder().encode("hi");
    const files = [
      bytes,
      bytes.buffer,
      "aGk=",
      { type: "data", data: "aGk=" },
      { type: "text", text: "hi" },
      { type: "url", url: new URL("https://example.org/") },
      { type: "reference", reference: { x: "1" } },
    ].map((data) => ({ type: "file", mediaType: "text/plain", data }));
    const { messages } = fromAiSdk(
      [
        { role: "user", content: [...files, { type: "image", image: "data:image/png;base64,AA==" }] },
        { role: "user", content: "plain" },
      ],
      { at },
    );
    const datas = messages[0]?.parts.map((part) => (part.type === "file" ? (part.data ?? part.url) : ""));
    expect(datas).toEqual([...Array(5).fill("aGk="), "https://example.org/", "data:image/png;base64,AA=="]);
    expect(messages[0]?.metadata).toMatchObject({ aiSdk: { kept: [{ at: 6 }] } });
  });
});

describe("wedged threads", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
  const result = (id: string, content = "seen") => ({ role: "tool", tool_call_id: id, content });

  test("C1: a call without a result is closed, and said to be", () => {
    const { messages, repairs } = fromOpenAI(
      [
        { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
        result("b"),
        { role: "user", content: "hello?" },
        { role: "assistant", content: null, tool_calls: [call("c")] },
      ],
      { at },
    );
    expect(repairs).toEqual([
      { path: "messages[0]", call: "a", what: "closed" },
      { path: "messages[3]", call: "c", what: "closed" },
    ]);
    expect(messages[1]?.parts).toMatchObject([
      { call: "b", output: "seen" },
      { call: "a", output: reasons.interrupted, isError: true },
    ]);
    expectAppendable(messages);
  });

  test("calls at the end stay open where that is asked for", () => {
    const { messages, repairs } = fromOpenAI(
      [{ role: "assistant", content: null, tool_calls: [call("c")] }],
      { at, openEnd: "keep" },
    );
    expect([messages.length, repairs]).toEqual([1, []]);
  });

  test("C1: a result of no call is taken out, a late one goes to its call, an id that is used becomes another", () => {
    const { messages, repairs } = fromOpenAI(
      [
        result("nobody"),
        { role: "assistant", content: null, tool_calls: [call("a")] },
        { role: "user", content: "wait" },
        result("a", "late"),
        { role: "assistant", content: null, tool_calls: [call("a")] },
        result("a", "second"),
        result("a", "third"),
      ],
      { at },
    );
    expect(repairs.map(({ what, call: id, value }) => [what, id, value])).toEqual([
      ["renamed", "a", "a~2"],
      ["moved", "a", undefined],
      ["removed", "nobody", expect.objectContaining({ output: "seen" })],
      ["removed", "a~2", expect.objectContaining({ output: "third" })],
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "user", "assistant", "tool"]);
    expect(messages[4]?.parts).toMatchObject([{ call: "a~2", output: "second" }]);
    expectAppendable(messages);
  });

  test("whatever order calls and results come in, what is read can be kept", () => {
    const ids = fc.constantFrom("a", "b", "c");
    const anything = fc.oneof(
      ids.map((id) => result(id)),
      fc
        .uniqueArray(ids, { minLength: 1 })
        .map((list) => ({ role: "assistant", content: null, tool_calls: list.map(call) })),
      fc.constant({ role: "user", content: "hm" }),
    );
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 12 }), (list) => {
        const { messages, repairs } = fromOpenAI(list, { at });
        expectAppendable(messages);
        const results = (parts: readonly Part[]) => parts.filter(({ type }) => type === "result").length;
        const given = list.filter(({ role }) => role === "tool").length;
        const kept = messages.reduce((sum, { parts }) => sum + results(parts), 0);
        const count = (what: string) => repairs.filter((repair) => repair.what === what).length;
        expect(kept - count("closed") + count("removed")).toBe(given);
      }),
    );
  });

  test("what tools said beside results of no call is taken out as well", () => {
    const response = { type: "tool-approval-response", approvalId: "a", approved: true };
    const { messages, repairs } = fromAiSdk([{ role: "tool", content: [response] }], { at });
    expect([messages, repairs]).toEqual([
      [],
      [{ path: "messages[0]", call: "", what: "removed", value: response }],
    ]);
  });
});

test.each<[string, () => unknown, RegExp]>([
  ["no message", () => fromOpenAI(["x"], { at }), /messages\[0\] must be an object/],
  ["no role", () => fromOpenAI([{ role: "robot" }], { at }), /messages\[0\]\.role must be system/],
  [
    "no text",
    () => fromOpenAI([{ role: "user", content: [{ type: "text" }] }], { at }),
    /messages\[0\]\.content\[0\]\.text/,
  ],
  [
    "no list",
    () => fromOpenAI([{ role: "user", content: 7 }], { at }),
    /messages\[0\]\.content must be a list/,
  ],
  [
    "no function",
    () =>
      fromOpenAI([{ role: "assistant", content: null, tool_calls: [{ id: "c", type: "custom" }] }], { at }),
    /messages\[0\]\.tool_calls\[0\]\.type must be function/,
  ],
  [
    "a role Anthropic has not",
    () => fromAnthropic({ messages: [{ role: "tool" }] }, { at }),
    /must be user or assistant/,
  ],
  [
    "a role the AI SDK has not",
    () => fromAiSdk([{ role: "data", content: "" }], { at }),
    /must be system, user/,
  ],
])("%s is an error with its path", (_, read, message) => {
  expect(read).toThrow(
    expect.objectContaining({ code: "MESSAGE_INVALID", message: expect.stringMatching(message) }),
  );
});

test("C5: what says nothing is left out for the AI SDK, and a file that nobody can fetch is told of in words", () => {
  const said = (role: "user" | "assistant", ...parts: Part[]): Message => ({ id: role, role, at, parts });
  const odd: Part[] = [
    { type: "file", mediaType: "image/png", url: "/uploads/cat.png" },
    { type: "file", mediaType: "image/png", data: "no base64!", name: "cat" },
  ];
  const messages = [
    said("user", { type: "text", text: "" }),
    said("assistant"),
    said("user", { type: "text", text: "" }, { type: "text", text: "look" }, ...odd),
  ];
  expect(toAiSdk(messages)).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "text", text: "[A file that cannot be shown: image/png, /uploads/cat.png]" },
        { type: "text", text: "[A file that cannot be shown: cat, image/png]" },
      ],
    },
  ]);
});
