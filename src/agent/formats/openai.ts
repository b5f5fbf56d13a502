/**
 * Messages in the format of OpenAI's chat completions, which many others speak as well: to it, and back.
 *
 * It has no place for thinking, for files of the assistant and for whether a result is an error; `left` lists those.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import type { FilePart, Message, Part, ResultPart } from "../thread/message.ts";
import {
  asJson,
  asList,
  asObject,
  asString,
  extraOf,
  extrasOf,
  fail,
  field,
  type Left,
  type Place,
  type ReadMessage,
  type ReadOptions,
  type ReadPart,
  readDataUrl,
  rest,
  textOfOutput,
  withExtra,
  withKept,
} from "./reading.ts";
import { type Imported, importMessages } from "./repair.ts";

export type OpenAIContent =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { file_data?: string; file_id?: string; filename?: string } };

export interface OpenAICall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type OpenAIMessage =
  | { role: "system" | "developer"; content: string }
  | { role: "user"; content: string | OpenAIContent[] }
  | {
      role: "assistant";
      content: string | { type: "text"; text: string }[] | null;
      tool_calls?: OpenAICall[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

const format = "openai";

/** Messages as chat completions take them, and what they have no place for. */
export function toOpenAI(messages: readonly Message[]): { messages: OpenAIMessage[]; left: Left[] } {
  const left: Left[] = [];
  return { messages: messages.flatMap((message) => write(message, left)), left };
}

function write(message: Message, left: Left[]): OpenAIMessage[] {
  const { id, role, parts } = message;
  const extras = extrasOf(format, message);
  const leave = (what: string) => void left.push({ message: id, what });
  if (role === "tool")
    return parts.map((part) => writeResult(part as ResultPart, extraOf(extras, part, 0), leave));
  const content = withKept(
    extras,
    parts.flatMap((part, index) => {
      const written = writeContent(part, role, extraOf(extras, part, index), leave);
      return written === undefined ? [] : [{ index, part: written }];
    }),
  );
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const isPlain = content.every((part) => Object.keys(part).join() === "type,text") && texts.length < 2;
  const fields = { ...extras.fields };
  if (role === "system") return [{ role, content: texts.join("\n"), ...fields }];
  if (role === "user") return [{ role, content: isPlain ? (texts[0] ?? "") : content, ...fields }];
  const calls = parts.flatMap((part, index) =>
    part.type === "call" ? [writeCall(part.id, part.tool, part.input, extraOf(extras, part, index))] : [],
  );
  const said = isPlain ? (texts[0] ?? null) : (content as { type: "text"; text: string }[]);
  // Providers refuse one that neither says nor calls anything, and would with every later message.
  if (said === null && calls.length === 0 && Object.keys(fields).length === 0) {
    leave("a message without content");
    return [];
  }
  return [{ role, content: said, ...(calls.length > 0 ? { tool_calls: calls } : {}), ...fields }];
}

function writeResult(part: ResultPart, extra: JsonObject, leave: (what: string) => void): OpenAIMessage {
  if (part.isError === true) leave(`that the result of ${part.call} is an error`);
  return { role: "tool", tool_call_id: part.call, content: textOfOutput(part.output), ...extra };
}

function writeCall(
  id: string,
  name: string,
  input: Json,
  { arguments: given, ...extra }: JsonObject,
): OpenAICall {
  const text = typeof given === "string" ? given : JSON.stringify(input);
  return { id, type: "function", function: { name, arguments: text }, ...extra };
}

function writeContent(
  part: Part,
  role: Message["role"],
  extra: JsonObject,
  leave: (what: string) => void,
): OpenAIContent | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...extra };
    case "file":
      if (role === "user") return writeFile(part, extra);
      leave("a file of the assistant");
      return undefined;
    case "thinking":
      leave("thinking");
      return undefined;
    default:
      return undefined;
  }
}

function writeFile({ mediaType, url, data = "", name }: FilePart, extra: JsonObject): OpenAIContent {
  const address = url ?? `data:${mediaType};base64,${data}`;
  const audio = { "audio/wav": "wav", "audio/mpeg": "mp3" }[mediaType];
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: address, ...extra } };
  if (audio !== undefined && url === undefined)
    return { type: "input_audio", input_audio: { data, format: audio as "wav" | "mp3" }, ...extra };
  return {
    type: "file",
    file: { file_data: address, ...(name === undefined ? {} : { filename: name }), ...extra },
  };
}

/** Messages of ours from those of chat completions, repaired where a model would refuse them. */
export function fromOpenAI(messages: readonly unknown[], options: ReadOptions): Imported {
  const read = asList({ value: messages, path: [] }).map(readMessage);
  return importMessages(format, read, options);
}

function readMessage(place: Place): ReadMessage {
  asObject(place);
  const role = asString(field(place, "role"));
  const path = `messages[${place.path.join(".")}]`;
  const content = field(place, "content");
  const fields = (read: readonly string[]) => ({ fields: rest(place, ["role", "content", ...read]) ?? {} });
  switch (role) {
    case "system":
    case "developer": {
      const named = role === "developer" ? { role } : {};
      return { role: "system", ...readContent(content), fields: { ...fields([]).fields, ...named }, path };
    }
    case "user":
      return { role, ...readContent(content), ...fields([]), path };
    case "assistant": {
      const { parts, kept } = readContent(
        content.value === null ? { ...content, value: undefined } : content,
      );
      const thought = field(place, "reasoning_content");
      const thinking: ReadPart[] =
        typeof thought.value === "string" ? [{ part: { type: "thinking", text: thought.value } }] : [];
      const calls = field(place, "tool_calls");
      const made = calls.value === undefined || calls.value === null ? [] : asList(calls).map(readCall);
      const moved = kept.map(({ at, part }) => ({ at: at + thinking.length, part }));
      const others = fields(["tool_calls", ...(thinking.length > 0 ? ["reasoning_content"] : [])]);
      return { role, parts: [...thinking, ...parts, ...made], kept: moved, ...others, path };
    }
    case "tool": {
      const call = asString(field(place, "tool_call_id"));
      const output = typeof content.value === "string" ? content.value : textOfContent(content);
      const extra = rest(place, ["role", "content", "tool_call_id"]);
      const part: ResultPart = { type: "result", call, tool: "?", output };
      return { role, parts: [extra === undefined ? { part } : { part, extra }], path };
    }
    default:
      return fail(field(place, "role"), "must be system, developer, user, assistant or tool");
  }
}

const textOfContent = (place: Place): string =>
  asList(place)
    .map((part) => asString(field(part, "text")))
    .join("");

function readContent(place: Place): { parts: ReadPart[]; kept: { at: number; part: Json }[] } {
  const parts: ReadPart[] = [];
  const kept: { at: number; part: Json }[] = [];
  if (typeof place.value === "string") parts.push({ part: { type: "text", text: place.value } });
  else if (place.value !== undefined)
    for (const item of asList(place)) {
      const read = readPart(item);
      if (read === undefined) kept.push({ at: parts.length, part: asJson(item) });
      else parts.push(read);
    }
  return { parts, kept };
}

/** A part of ours, or undefined for one that has no like here and is kept as it is. */
function readPart(place: Place): ReadPart | undefined {
  asObject(place);
  const type = asString(field(place, "type"));
  if (type === "text")
    return withExtra({ type, text: asString(field(place, "text")) }, rest(place, ["type", "text"]));
  if (type === "image_url") {
    const image = field(place, "image_url");
    asObject(image);
    const url = asString(field(image, "url"));
    return withExtra(
      { type: "file", ...(readDataUrl(url) ?? { mediaType: "image/*", url }) },
      rest(image, ["url"]),
    );
  }
  if (type === "input_audio") {
    const audio = field(place, "input_audio");
    asObject(audio);
    const mediaType = asString(field(audio, "format")) === "wav" ? "audio/wav" : "audio/mpeg";
    return withExtra({ type: "file", mediaType, data: asString(field(audio, "data")) }, undefined);
  }
  const file = field(place, "file");
  const data = type === "file" ? field({ value: asObject(file), path: file.path }, "file_data") : file;
  const inline = typeof data.value === "string" ? readDataUrl(data.value) : undefined;
  if (type !== "file" || inline === undefined) return undefined;
  const name = field(file, "filename").value;
  return withExtra(
    { type: "file", ...inline, ...(typeof name === "string" ? { name } : {}) },
    rest(file, ["file_data", "filename"]),
  );
}

function readCall(place: Place): ReadPart {
  asObject(place);
  if (field(place, "type").value !== "function") fail(field(place, "type"), "must be function");
  const called = field(place, "function");
  asObject(called);
  const text = asString(field(called, "arguments"));
  const others = rest(place, ["id", "type", "function"]);
  const id = asString(field(place, "id"));
  const tool = asString(field(called, "name"));
  const input = parse(text === "" ? "{}" : text);
  // What a model wrote and nobody can parse goes back to it as it was.
  if (input === undefined)
    return { part: { type: "call", id, tool, input: text }, extra: { ...others, arguments: text } };
  return withExtra({ type: "call", id, tool, input }, others);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
