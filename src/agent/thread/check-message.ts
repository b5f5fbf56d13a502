/** Whether a message can be kept: what comes from outside is looked at once, before anything changes. */
import { toJson } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { FilePart, Message, Part, Role } from "./message.ts";

const partsOf: Readonly<Record<Role, readonly Part["type"][]>> = {
  system: ["text"],
  user: ["text", "file"],
  assistant: ["text", "thinking", "file", "call"],
  tool: ["result"],
};

/** Throws MESSAGE_INVALID, with the path to what is wrong, unless the message can be kept as it is. */
export function checkMessage(message: Message): void {
  const problem = problemOf(message);
  if (problem === undefined) return;
  const id: unknown = (message as { id?: unknown } | null)?.id;
  throw new HoldfastError(
    "MESSAGE_INVALID",
    `The message ${JSON.stringify(id) ?? "without an id"} cannot be kept: ${problem}`,
    { details: { message: id } },
  );
}

/** Why a message cannot be kept; undefined if it can be. Throws VALUE_INVALID for what is no JSON. */
export function problemOf(message: Message): string | undefined {
  if (typeof message !== "object" || message === null) return "it is no object";
  const { id, role, parts, at } = message;
  if (!isName(id)) return `its id is no text of 1 to ${limits.nameLengthMax} characters`;
  const allowed = Object.hasOwn(partsOf, role) ? partsOf[role] : undefined;
  if (allowed === undefined) return `its role is none of ${Object.keys(partsOf).join(", ")}`;
  if (!Number.isFinite(at)) return "its time is no number of milliseconds";
  if (!Array.isArray(parts)) return "its parts are no list";
  if (role === "tool" && parts.length === 0) return "it has no result";
  for (const [index, part] of (parts as readonly Part[]).entries()) {
    const problem = allowed.includes(part?.type)
      ? problemOfPart(part)
      : `a message of role ${role} has parts of type ${allowed.join(", ")} only`;
    if (problem !== undefined) return `parts[${index}]: ${problem}`;
  }
  const ids = (parts as readonly Part[]).flatMap((part) =>
    part.type === "call" ? [part.id] : part.type === "result" ? [part.call] : [],
  );
  if (new Set(ids).size < ids.length) return "two of its parts have the same call id";
  toJson(message, [], "message");
  return undefined;
}

function problemOfPart(part: Part): string | undefined {
  switch (part.type) {
    case "text":
    case "thinking":
      return typeof part.text === "string" ? undefined : "its text is none";
    case "file":
      return problemOfFile(part);
    case "call":
      if (!isName(part.id)) return "it has no id";
      if (!isName(part.tool)) return "it names no tool";
      return part.input === undefined ? "it has no input; null is one" : undefined;
    case "result":
      if (!isName(part.call)) return "it names no call";
      if (!isName(part.tool)) return "it names no tool";
      return part.output === undefined ? "it has no output; null is one" : undefined;
  }
}

/** Why nobody could show a file to a model; undefined if somebody can. */
export function problemOfFile({ mediaType, url, data }: FilePart): string | undefined {
  if (typeof mediaType !== "string") return "it has no mediaType";
  if ((url === undefined) === (data === undefined)) return "it has either a url or data";
  if (data !== undefined) return isBase64(data) ? undefined : "its data is no base64";
  return isAddress(url)
    ? undefined
    : "its url is none that others can fetch: give a whole one, with https://, or data";
}

/** An address that says where it is by itself: relative ones and paths mean something to this machine only. */
const isAddress = (url: unknown): boolean =>
  typeof url === "string" && /^(?:data:|(?!file:)[a-z][a-z0-9+.-]+:\/\/[^/])/i.test(url) && URL.canParse(url);

const isBase64 = (data: unknown): boolean =>
  typeof data === "string" && /^[A-Za-z0-9+/_-]+={0,2}$/.test(data);

const isName = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= limits.nameLengthMax;
