/**
 * Messages in the format of the AI SDK (`ModelMessage`): to it, and back. Its types are described here by their shape, so
 * that nothing has to be installed; a test holds them against the package's own types and schema.
 */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ModelAnswer } from "../model/model.ts";
import { problemOfFile } from "../thread/check-message.ts";
import type { FilePart, Message, Part, ResultPart, ThinkingPart } from "../thread/message.ts";
import {
  asJson,
  asList,
  asObject,
  asString,
  extraOf,
  extrasOf,
  fail,
  field,
  isBlank,
  type Place,
  type ReadMessage,
  type ReadOptions,
  type ReadPart,
  rest,
  withExtra,
  withKept,
} from "./reading.ts";
import { type Imported, importMessages } from "./repair.ts";

export type AiText = { type: "text"; text: string };
export type AiFile = { type: "file"; mediaType: string; data: string | URL; filename?: string };
export type AiReasoning = {
  type: "reasoning";
  text: string;
  providerOptions?: { anthropic: { signature: string } };
};
export type AiCall = { type: "tool-call"; toolCallId: string; toolName: string; input: unknown };
export type AiJson = null | string | number | boolean | AiJson[] | { [key: string]: AiJson | undefined };
export type AiOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: AiJson };
export type AiResult = { type: "tool-result"; toolCallId: string; toolName: string; output: AiOutput };

export type AiMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: (AiText | AiFile)[] }
  | { role: "assistant"; content: (AiText | AiFile | AiReasoning | AiCall)[] }
  | { role: "tool"; content: AiResult[] };

type AiPart = AiText | AiFile | AiReasoning | AiCall | AiResult;

const format = "aiSdk";

/**
 * Messages as `generateText` and its like take them. Nothing of them is lost but what says nothing, texts and messages of blanks
 * at most: providers refuse those, and whatever comes after them.
 */
export const toAiSdk = (messages: readonly Message[]): AiMessage[] =>
  messages.flatMap((message): AiMessage[] => {
    const extras = extrasOf(format, message);
    const written = message.parts.flatMap((part, index) => {
      const extra = extraOf(extras, part, index);
      const isEmpty = part.type === "text" && isBlank(part.text) && Object.keys(extra).length === 0;
      return isEmpty ? [] : [{ index, part: writePart(part, extra) }];
    });
    const content = withKept(extras, written);
    if (content.length === 0) return [];
    const fields = extras.fields ?? {};
    if (message.role === "system") {
      const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return [{ role: message.role, content: texts.join("\n"), ...fields }];
    }
    return [{ role: message.role, content, ...fields } as AiMessage];
  });

function writePart(part: Part, extra: JsonObject): AiPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...extra };
    case "thinking":
      return writeThinking(part, extra);
    case "file":
      return writeFile(part, extra);
    case "call":
      return { type: "tool-call", toolCallId: part.id, toolName: part.tool, input: part.input, ...extra };
    case "result":
      return writeResult(part, extra);
  }
}

function writeThinking({ text, signature }: ThinkingPart, extra: JsonObject): AiReasoning {
  const signed = signature === undefined ? {} : { providerOptions: { anthropic: { signature } } };
  return { type: "reasoning", text, ...signed, ...extra };
}

/** A file; one that nobody could fetch or read is told of in words, since no model would take the message with it. */
function writeFile(file: FilePart, extra: JsonObject): AiFile | AiText {
  if (problemOfFile(file) !== undefined) return { type: "text", text: wordsFor(file) };
  const { mediaType, url, data = "", name } = file;
  const named = name === undefined ? {} : { filename: name };
  return { type: "file", mediaType, data: url === undefined ? data : new URL(url), ...named, ...extra };
}

/** What stands in place of a file that cannot be shown. */
export const wordsFor = ({ mediaType, name, url }: FilePart): string =>
  `[A file that cannot be shown: ${[name, mediaType, url].filter((one) => one !== undefined).join(", ")}]`;

/** The output in its own kind where it came from here, else in the one that fits it. */
function writeResult({ call, tool, output, isError }: ResultPart, extra: JsonObject): AiResult {
  const { output: given, ...others } = extra;
  const plain: AiOutput =
    typeof output === "string"
      ? { type: isError ? "error-text" : "text", value: output }
      : { type: isError ? "error-json" : "json", value: output as AiJson };
  const written = given === undefined ? plain : (given as unknown as AiOutput);
  return { type: "tool-result", toolCallId: call, toolName: tool, output: written, ...others };
}

/** What a model of the AI SDK answered, from the content of an assistant's message, with what that format says besides. */
export function readAnswer(content: readonly unknown[]): Pick<ModelAnswer, "parts" | "besides"> {
  const { parts, kept = [] } = readMessage({ value: { role: "assistant", content }, path: ["answer"] });
  const besides = { format, parts: parts.map(({ extra }) => extra), kept };
  return {
    parts: parts.map(({ part }) => part) as unknown as ModelAnswer["parts"],
    ...(kept.length > 0 || parts.some(({ extra }) => extra !== undefined) ? { besides } : {}),
  };
}

/** Messages of ours from those of the AI SDK, repaired where a model would refuse them. */
export function fromAiSdk(messages: readonly unknown[], options: ReadOptions): Imported {
  const read = asList({ value: messages, path: [] }).map(readMessage);
  return importMessages(format, read, options);
}

function readMessage(place: Place): ReadMessage {
  asObject(place);
  const role = asString(field(place, "role"));
  if (role !== "system" && role !== "user" && role !== "assistant" && role !== "tool")
    return fail(field(place, "role"), "must be system, user, assistant or tool");
  const content = field(place, "content");
  const parts: ReadPart[] = [];
  const kept: { at: number; part: Json }[] = [];
  if (typeof content.value === "string") parts.push({ part: { type: "text", text: content.value } });
  else
    for (const item of asList(content)) {
      const read = readPart(item);
      // What the provider's own tools gave stands in the assistant's message, and is no unit of ours.
      if (read === undefined || (read.part.type === "result" && role !== "tool"))
        kept.push({ at: parts.length, part: asJson(item) });
      else parts.push(read);
    }
  const path = `messages[${place.path.join(".")}]`;
  return { role, parts, kept, fields: rest(place, ["role", "content"]) ?? {}, path };
}

/** A part of ours, or undefined for one that has no like here and is kept as it is. */
function readPart(place: Place): ReadPart | undefined {
  asObject(place);
  const type = asString(field(place, "type"));
  const text = (key: string) => asString(field(place, key));
  switch (type) {
    case "text":
      return withExtra({ type, text: text("text") }, rest(place, ["type", "text"]));
    case "reasoning":
      return readThinking(place);
    case "image":
    case "file":
      return readFile(place, type);
    case "tool-call": {
      if (field(place, "providerExecuted").value === true) return undefined;
      const call = { id: text("toolCallId"), tool: text("toolName"), input: asJson(field(place, "input")) };
      return withExtra({ type: "call", ...call }, rest(place, ["type", "toolCallId", "toolName", "input"]));
    }
    case "tool-result":
      return readResult(place);
    default:
      return undefined;
  }
}

function readThinking(place: Place): ReadPart {
  const options = field(place, "providerOptions").value as JsonObject | undefined;
  const signed = options?.anthropic;
  const signature = signed !== undefined && isObject(signed) ? signed.signature : undefined;
  const text = asString(field(place, "text"));
  const others = rest(place, ["type", "text"]);
  if (typeof signature !== "string") return withExtra({ type: "thinking", text }, others);
  // With nothing but the signature in them, the options are made again from it.
  const isOnly = JSON.stringify(options) === JSON.stringify({ anthropic: { signature } });
  return withExtra(
    { type: "thinking", text, signature },
    isOnly ? rest(place, ["type", "text", "providerOptions"]) : others,
  );
}

/** A file with its content or its address; undefined for one that only its provider knows. */
function readFile(place: Place, type: "image" | "file"): ReadPart | undefined {
  const key = type === "image" ? "image" : "data";
  const source = readData(field(place, key));
  if (source === undefined) return undefined;
  const given = field(place, "mediaType").value;
  const mediaType = typeof given === "string" ? given : "image/*";
  const name = field(place, "filename").value;
  const part: FilePart = {
    type: "file",
    mediaType,
    ...source,
    ...(typeof name === "string" ? { name } : {}),
  };
  return withExtra(part, rest(place, ["type", key, "mediaType", "filename"]));
}

function readData({ value, path }: Place): { url: string } | { data: string } | undefined {
  if (value instanceof URL) return { url: value.href };
  if (value instanceof Uint8Array) return { data: Buffer.from(value).toString("base64") };
  if (value instanceof ArrayBuffer) return { data: Buffer.from(value).toString("base64") };
  if (typeof value === "string") return /^(https?|data):/.test(value) ? { url: value } : { data: value };
  const place = { value, path };
  const kind = field({ value: asObject(place), path }, "type").value;
  if (kind === "data") return readData(field(place, "data"));
  if (kind === "url") return readData(field(place, "url"));
  if (kind === "text")
    return { data: Buffer.from(asString(field(place, "text")), "utf8").toString("base64") };
  return undefined;
}

function readResult(place: Place): ReadPart {
  const output = field(place, "output");
  asObject(output);
  const kind = asString(field(output, "type"));
  const isError = kind.startsWith("error-") || kind === "execution-denied" ? { isError: true as const } : {};
  const value = field(output, "value");
  const reason = field(output, "reason").value;
  const said =
    kind === "execution-denied"
      ? typeof reason === "string"
        ? reason
        : "The call was not approved."
      : asJson(value);
  const isPlain = /^(error-)?(text|json)$/.test(kind) && rest(output, ["type", "value"]) === undefined;
  const fits = isPlain && (typeof said === "string") === kind.endsWith("text");
  const others = rest(place, ["type", "toolCallId", "toolName", "output"]);
  const part: ResultPart = {
    type: "result",
    call: asString(field(place, "toolCallId")),
    tool: asString(field(place, "toolName")),
    output: said,
    ...isError,
  };
  return withExtra(part, fits ? others : { ...others, output: asJson(output) });
}
