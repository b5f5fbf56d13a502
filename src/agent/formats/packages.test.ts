/**
 * Formats, held against the packages of those whose they are. Their types take what is written here: the compiler checks
 * that. Their clients send it, whole, to a server that answers as theirs do, and what they make of the answer is read.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Message } from "../thread/message.ts";
import { append, emptyThread, messagesOf } from "../thread/thread.ts";
import { fromAnthropic, toAnthropic } from "./anthropic.ts";
import { fromOpenAI, toOpenAI } from "./openai.ts";

const image = Buffer.from("image").toString("base64");
const conversation: Message[] = [
  { id: "m0", at: 0, role: "system", parts: [{ type: "text", text: "Be brief." }] },
  {
    ...{ id: "m1", at: 0, role: "user" },
    parts: [
      { type: "text", text: "What is this?" },
      { type: "file", mediaType: "image/png", data: image },
      { type: "file", mediaType: "application/pdf", data: image, name: "paper" },
    ],
  },
  {
    ...{ id: "m2", at: 0, role: "assistant" },
    parts: [
      { type: "thinking", text: "Look.", signature: "signed" },
      { type: "text", text: "Let me look." },
      { type: "call", id: "c1", tool: "look", input: { at: "left" } },
      { type: "call", id: "c2", tool: "look", input: { at: "right" } },
    ],
  },
  {
    ...{ id: "m3", at: 0, role: "tool" },
    parts: [
      { type: "result", call: "c1", tool: "look", output: "a boat" },
      { type: "result", call: "c2", tool: "look", output: "Nothing is there.", isError: true },
    ],
  },
];

/** What was sent last, and what is answered. */
let sent: { path: string; body: Record<string, unknown> };
let answer: { type: string; text: string };
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  sent = { path: request.url ?? "", body: JSON.parse(text) };
  response.writeHead(200, { "content-type": answer.type }).end(answer.text);
});
let baseURL: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  answer = { type: "application/json", text: "{}" };
});

const streamed = (
  events: readonly { readonly type?: string; readonly [field: string]: unknown }[],
  isNamed: boolean,
) =>
  events.map((data) => `${isNamed ? `event: ${data.type}\n` : ""}data: ${JSON.stringify(data)}\n\n`).join("");

function expectGoesOn(messages: readonly Message[]): void {
  const thread = emptyThread();
  for (const message of messages) append(thread, message);
  expect(messagesOf(thread).map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
}

const openai = () => new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL, apiKey: "none", maxRetries: 0 });

test("C2: OpenAI's package takes what is written for it, and what it gives back is read, calls linked", async () => {
  const call = { id: "c3", type: "function", function: { name: "look", arguments: '{"at":"up"}' } };
  const message = { role: "assistant", content: "Once more.", refusal: null, tool_calls: [call] };
  const choice = { index: 0, finish_reason: "tool_calls", logprobs: null, message };
  answer.text = JSON.stringify({
    ...{ id: "x", object: "chat.completion", created: 0, model: "m", choices: [choice] },
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = toOpenAI(conversation).messages;
  const given = await openai().chat.completions.create({ model: "m", messages });
  expect(sent).toEqual({ path: "/chat/completions", body: { model: "m", messages } });
  const read = fromOpenAI([...messages, given.choices[0]?.message], { at: 0 });
  expect(read.repairs).toEqual([{ path: "messages[5]", call: "c3", what: "closed" }]);
  expect(read.messages[4]).toMatchObject({
    role: "assistant",
    parts: [
      { type: "text", text: "Once more." },
      { type: "call", id: "c3", tool: "look", input: { at: "up" } },
    ],
  });
  expectGoesOn(read.messages);
  // What it has besides goes back to it as it came.
  expect(toOpenAI(read.messages).messages[5]).toMatchObject({ refusal: null, tool_calls: [call] });
});

test("C2: what OpenAI's package puts together from a stream is read as well", async () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ id: "x", object: "chat.completion.chunk", created: 0, model: "m" },
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
  });
  const piece = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  answer = {
    type: "text/event-stream",
    text: `${streamed(
      [
        chunk({ role: "assistant", content: "Hm" }),
        chunk({ content: "m." }),
        chunk({
          tool_calls: [{ index: 0, id: "c3", type: "function", function: { name: "look", arguments: "" } }],
        }),
        ...[chunk(piece('{"at":')), chunk(piece('"up"}')), chunk({}, "tool_calls")],
      ],
      false,
    )}data: [DONE]\n\n`,
  };
  const { messages } = toOpenAI(conversation);
  const stream = openai().chat.completions.stream({ model: "m", messages });
  const { messages: read } = fromOpenAI([...messages, await stream.finalMessage()], { at: 0 });
  expect(read[4]?.parts).toEqual([
    { type: "text", text: "Hmm." },
    { type: "call", id: "c3", tool: "look", input: { at: "up" } },
  ]);
  expectGoesOn(read);
});

const usage = { input_tokens: 1, output_tokens: 1 };
const blocks = [
  { type: "thinking", thinking: "Hm.", signature: "s" },
  { type: "redacted_thinking", data: "secret" },
  { type: "text", text: "Once more.", citations: null },
  { type: "tool_use", id: "c3", name: "look", input: { at: "up" } },
];

test("C2: Anthropic's package takes what is written for it, and what it gives back is read, calls linked", async () => {
  answer.text = JSON.stringify({
    ...{ id: "x", type: "message", role: "assistant", model: "m", content: blocks, usage },
    ...{ stop_reason: "tool_use", stop_sequence: null },
  });
  const { system, messages, left } = toAnthropic(conversation);
  const params: Anthropic.MessageCreateParamsNonStreaming = {
    ...{ model: "m", max_tokens: 9, system, messages },
  };
  const given = await anthropic().messages.create(params);
  expect(left).toEqual([]);
  expect(sent.path).toBe("/v1/messages");
  expect(sent.body).toMatchObject({ system, messages });
  const { role, content } = given;
  const read = fromAnthropic({ system, messages: [...messages, { role, content }] }, { at: 0 });
  expect(read.repairs).toEqual([{ path: "messages[3]", call: "c3", what: "closed" }]);
  expect(read.messages[4]?.parts.at(-1)).toEqual({
    ...{ type: "call", id: "c3", tool: "look", input: { at: "up" } },
  });
  expectGoesOn(read.messages);
  // Also what has no like here, in its place.
  expect(toAnthropic(read.messages).messages[3]).toEqual({ role: "assistant", content: blocks });
});

test("C2: what Anthropic's package puts together from a stream is read as well", async () => {
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const message = {
    ...{ id: "x", type: "message", role: "assistant", model: "m", content: [], usage },
    ...{ stop_reason: null, stop_sequence: null },
  };
  answer = {
    type: "text/event-stream",
    text: streamed(
      [
        { type: "message_start", message },
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hm." },
          { type: "signature_delta", signature: "s" },
        ),
        ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "Once more." }),
        ...block(
          2,
          { type: "tool_use", id: "c3", name: "look", input: {} },
          { type: "input_json_delta", partial_json: '{"at":' },
          { type: "input_json_delta", partial_json: '"up"}' },
        ),
        { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
        { type: "message_stop" },
      ],
      true,
    ),
  };
  const { system, messages } = toAnthropic(conversation);
  const stream = anthropic().messages.stream({ model: "m", max_tokens: 9, system, messages });
  const { role, content } = await stream.finalMessage();
  const { messages: read } = fromAnthropic({ messages: [...messages, { role, content }] }, { at: 0 });
  expect(read[3]?.parts).toEqual([
    { type: "thinking", text: "Hm.", signature: "s" },
    { type: "text", text: "Once more." },
    { type: "call", id: "c3", tool: "look", input: { at: "up" } },
  ]);
  expectGoesOn(read);
});

test("C2: what Anthropic's format has no place for is left out and listed; ids are such as it takes, on both sides", () => {
  const messages: Message[] = [
    {
      ...{ id: "u", at: 0, role: "user" },
      parts: [
        { type: "text", text: "See." },
        { type: "file", mediaType: "image/svg+xml", data: image },
        { type: "file", mediaType: "application/zip", data: image },
      ],
    },
    {
      ...{ id: "a", at: 0, role: "assistant" },
      parts: [{ type: "call", id: "functions.look:0", tool: "look", input: {} }],
    },
    {
      ...{ id: "r", at: 0, role: "tool" },
      parts: [{ type: "result", call: "functions.look:0", tool: "look", output: "x" }],
    },
  ];
  const { messages: written, left } = toAnthropic(messages);
  expect(left.map(({ what }) => what)).toEqual([
    ...["a file of the type image/svg+xml", "a file of the type application/zip"],
    "that the call functions_2e_look_3a_0 is called functions.look:0",
  ]);
  expect(written[0]?.content).toEqual([{ type: "text", text: "See." }]);
  expect(written[1]?.content[0]).toMatchObject({ id: "functions_2e_look_3a_0" });
  expect(written[2]?.content[0]).toMatchObject({ tool_use_id: "functions_2e_look_3a_0" });
});
