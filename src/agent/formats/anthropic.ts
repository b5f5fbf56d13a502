/**
 * Messages in the format of Anthropic's Messages API: to it, and back. System messages stand apart from the others there,
 * results of tools are said by the user, and thinking is taken back only with its signature; `left` lists what has none.
 */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { CallPart, FilePart, Message, Part, ResultPart } from "../thread/message.ts";
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
  type Left,
  type Place,
  type ReadMessage,
  type ReadOptions,
  type ReadPart,
  rest,
  textOfOutput,
  withExtra,
  withKept,
} from "./reading.ts";
import { type Imported, importMessages } from "./repair.ts";

/** The images it takes; others have no place in it. */
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export type AnthropicImage =
  | { type: "base64"; media_type: (typeof imageTypes)[number]; data: string }
  | { type: "url"; url: string };

export type AnthropicDocument =
  | { type: "base64"; media_type: "application/pdf"; data: string }
  | { type: "url"; url: string }
  | { type: "text"; media_type: "text/plain"; data: string };

export type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "image"; source: AnthropicImage }
  | { type: "document"; source: AnthropicDocument; title?: string }
  | { type: "tool_use"; id: string; name: string; input: JsonObject }
  | { type: "tool_result"; tool_use_id: string; content: string | AnthropicContent[]; is_error?: true };

/** What a result may consist of. */
export type AnthropicContent = Extract<AnthropicBlock, { type: "text" | "image" | "document" }>;

export interface AnthropicMessage {
  role: "user" | "assistant";
  content: AnthropicBlock[];
}

export interface AnthropicPrompt {
  system: { type: "text"; text: string }[];
  messages: AnthropicMessage[];
}

const format = "anthropic";

/** Messages as the Messages API takes them, and what it has no place for. */
export function toAnthropic(messages: readonly Message[]): AnthropicPrompt & { left: Left[] } {
  const left: Left[] = [];
  const system: { type: "text"; text: string }[] = [];
  const written: AnthropicMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = write(message, left);
    if (message.role === "system") {
      system.push(...(blocks as { type: "text"; text: string }[]));
      if (messages.slice(0, index).some(({ role }) => role !== "system"))
        left.push({ message: message.id, what: "that it was said later than at the beginning" });
      continue;
    }
    if (blocks.length === 0) left.push({ message: message.id, what: "a message without content" });
    // The results of one message's calls must all stand in the next one.
    else if (message.role === "tool" && messages[index - 1]?.role === "tool")
      written.at(-1)?.content.push(...blocks);
    else written.push({ role: message.role === "assistant" ? "assistant" : "user", content: blocks });
  }
  return { system, messages: written, left };
}

function write(message: Message, left: Left[]): AnthropicBlock[] {
  const extras = extrasOf(format, message);
  const leave = (what: string) => void left.push({ message: message.id, what });
  return withKept(
    extras,
    message.parts.flatMap((part, index) => {
      const block = writePart(part, extraOf(extras, part, index), leave);
      return block === undefined ? [] : [{ index, part: block }];
    }),
  );
}

function writePart(part: Part, extra: JsonObject, leave: (what: string) => void): AnthropicBlock | undefined {
  switch (part.type) {
    case "text":
      // A text of blanks is refused there, and says nothing here.
      return isBlank(part.text) ? undefined : { type: "text", text: part.text, ...extra };
    case "thinking":
      if (part.signature === undefined) return void leave("thinking without a signature");
      return { type: "thinking", thinking: part.text, signature: part.signature, ...extra };
    case "file":
      return writeFile(part, extra, leave);
    case "call":
      return writeCall(part, extra, leave);
    case "result":
      return writeResult(part, extra);
  }
}

function writeFile(
  { mediaType, url, data = "", name }: FilePart,
  extra: JsonObject,
  leave: (what: string) => void,
): AnthropicBlock | undefined {
  const image = imageTypes.find((type) => type === mediaType);
  if (image !== undefined || (url !== undefined && mediaType.startsWith("image/"))) {
    const inline = { type: "base64", media_type: image ?? "image/png", data } as const;
    return { type: "image", source: url === undefined ? inline : { type: "url", url }, ...extra };
  }
  const source = documentOf(mediaType, url, data);
  if (source === undefined) return void leave(`a file of the type ${mediaType}`);
  return { type: "document", source, ...(name === undefined ? {} : { title: name }), ...extra };
}

function documentOf(mediaType: string, url: string | undefined, data: string): AnthropicDocument | undefined {
  if (url !== undefined) return { type: "url", url };
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
  if (mediaType !== "text/plain") return undefined;
  return { type: "text", media_type: mediaType, data: Buffer.from(data, "base64").toString("utf8") };
}

/** An id as it is taken: of letters, digits, _ and -; the same for a call and its result. */
const idOf = (id: string): string =>
  id.replace(/[^A-Za-z0-9_-]/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`);

function writeCall(
  { id, tool, input }: CallPart,
  extra: JsonObject,
  leave: (what: string) => void,
): AnthropicBlock {
  if (idOf(id) !== id) leave(`that the call ${idOf(id)} is called ${id}`);
  if (isObject(input)) return { type: "tool_use", id: idOf(id), name: tool, input, ...extra };
  leave(`that the input of ${id} is no object`);
  return { type: "tool_use", id: idOf(id), name: tool, input: { input }, ...extra };
}

function writeResult(
  { call, output, isError }: ResultPart,
  { blocks, ...extra }: JsonObject,
): AnthropicBlock {
  // Blocks that came from there go back as they were.
  const content = blocks === true ? (output as AnthropicContent[]) : textOfOutput(output);
  return {
    type: "tool_result",
    tool_use_id: idOf(call),
    content,
    ...(isError ? { is_error: true } : {}),
    ...extra,
  };
}

/** What is read: messages, and what the system was told, as it stands beside them. */
export interface AnthropicInput {
  readonly system?: unknown;
  readonly messages: readonly unknown[];
}

/** Messages of ours from those of the Messages API, repaired where a model would refuse them. */
export function fromAnthropic(input: AnthropicInput, options: ReadOptions): Imported {
  const { system, messages } = (input ?? {}) as Partial<AnthropicInput>;
  const told: ReadMessage[] =
    system === undefined
      ? []
      : [{ role: "system", ...readContent({ value: system, path: ["system"] }), path: "system" }];
  const read = asList({ value: messages, path: [] }).flatMap(readMessage);
  return importMessages(format, [...told, ...read], options);
}

/** One message there may be two here: the results it begins with, and what the user says besides. */
function readMessage(place: Place): ReadMessage[] {
  asObject(place);
  const role = field(place, "role");
  if (role.value !== "user" && role.value !== "assistant") fail(role, "must be user or assistant");
  const path = `messages[${place.path.join(".")}]`;
  const fields = { fields: rest(place, ["role", "content"]) ?? {} };
  const { parts, kept } = readContent(field(place, "content"));
  if (role.value === "assistant") return [{ role: "assistant", parts, kept, ...fields, path }];
  const results = parts.filter(({ part }) => part.type === "result");
  const said = parts.filter(({ part }) => part.type !== "result");
  const before = (at: number) => parts.slice(0, at).filter(({ part }) => part.type === "result").length;
  const moved = kept.map(({ at, part }) => ({ at: at - before(at), part }));
  const isSaid = said.length + moved.length > 0 || results.length === 0;
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, parts: results, path }] : []),
    ...(isSaid ? [{ role: "user" as const, parts: said, kept: moved, ...fields, path }] : []),
  ];
}

function readContent(place: Place): { parts: ReadPart[]; kept: { at: number; part: Json }[] } {
  if (typeof place.value === "string")
    return { parts: [{ part: { type: "text", text: place.value } }], kept: [] };
  const parts: ReadPart[] = [];
  const kept: { at: number; part: Json }[] = [];
  for (const block of asList(place)) {
    const read = readBlock(block);
    if (read === undefined) kept.push({ at: parts.length, part: asJson(block) });
    else parts.push(read);
  }
  return { parts, kept };
}

/** A part of ours, or undefined for a block that has no like here and is kept as it is. */
function readBlock(place: Place): ReadPart | undefined {
  asObject(place);
  const type = asString(field(place, "type"));
  const text = (key: string) => asString(field(place, key));
  switch (type) {
    case "text":
      return withExtra({ type, text: text("text") }, rest(place, ["type", "text"]));
    case "thinking": {
      const thinking = { type, text: text("thinking"), signature: text("signature") } as const;
      return withExtra(thinking, rest(place, ["type", "thinking", "signature"]));
    }
    case "image":
    case "document":
      return readFile(place, type);
    case "tool_use": {
      const input = asJson(field(place, "input"));
      return withExtra(
        { type: "call", id: text("id"), tool: text("name"), input },
        rest(place, ["type", "id", "name", "input"]),
      );
    }
    case "tool_result":
      return readResult(place);
    default:
      return undefined;
  }
}

function readFile(place: Place, type: "image" | "document"): ReadPart | undefined {
  const source = field(place, "source");
  asObject(source);
  const kind = field(source, "type").value;
  const title = field(place, "title").value;
  const name = typeof title === "string" ? { name: title } : {};
  const extra = rest(place, ["type", "source", ...(typeof title === "string" ? ["title"] : [])]);
  if (kind === "url") {
    const mediaType = type === "image" ? "image/*" : "application/pdf";
    return withExtra({ type: "file", mediaType, url: asString(field(source, "url")), ...name }, extra);
  }
  if (kind !== "base64" && kind !== "text") return undefined;
  const data = asString(field(source, "data"));
  const mediaType = asString(field(source, "media_type"));
  const inline = kind === "text" ? Buffer.from(data, "utf8").toString("base64") : data;
  return withExtra({ type: "file", mediaType, data: inline, ...name }, extra);
}

function readResult(place: Place): ReadPart {
  const content = field(place, "content");
  const isText = content.value === undefined || typeof content.value === "string";
  const output = isText ? ((content.value as string | undefined) ?? "") : asJson(content);
  const others = rest(place, ["type", "tool_use_id", "content", "is_error"]);
  const extra = isText ? others : { ...others, blocks: true };
  const isError = field(place, "is_error").value === true;
  const call = asString(field(place, "tool_use_id"));
  return withExtra({ type: "result", call, tool: "?", output, ...(isError ? { isError } : {}) }, extra);
}
