/**
 * Repairs of messages that come from elsewhere. Threads that others kept are often wedged: a call without a result, a
 * result without a call, ids that are used twice. Each is put right in the one way that a model accepts, and reported.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { checkFunction, checkNumber, checkOptions, checkWord } from "../../runtime/options.ts";
import type { CallPart, Message, ResultPart } from "../thread/message.ts";
import { reasons } from "../thread/unit.ts";
import { finish, type ReadMessage, type ReadOptions, type ReadPart } from "./reading.ts";

export interface Repair {
  /** Where the message stood in what was read. */
  readonly path: string;
  readonly call: string;
  /** A call without a result was closed; a result was moved to its call; a result of no call was taken out; an id that was used became another. */
  readonly what: "closed" | "moved" | "removed" | "renamed";
  /** What was taken out, or the new id. */
  readonly value?: Json;
}

export interface Imported {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
}

/** Messages of ours from those that were read, with every call and result in its place. */
export function importMessages(format: string, read: readonly ReadMessage[], options: ReadOptions): Imported {
  checkReadOptions(options);
  const repairs: Repair[] = [];
  const list = read.map((message) => ({ ...message, parts: [...message.parts] }));
  renameCalls(list, repairs);
  const paired: ReadMessage[] = [];
  for (const [index, message] of list.entries()) {
    if (message.role === "tool") continue;
    paired.push(message);
    const calls = message.parts.flatMap(({ part }) => (part.type === "call" ? [part] : []));
    if (calls.length === 0) continue;
    const isLast = list.slice(index + 1).every(({ role }) => role === "tool");
    const closes = !isLast || options.openEnd !== "keep";
    const results = resultsOf(calls, list, index, { repairs, closes });
    const beside = besideResults(list, index);
    if (results.length + beside.kept.length > 0)
      paired.push({ role: "tool", parts: results, ...beside, path: message.path });
  }
  for (const { parts, path } of list)
    for (const { part } of parts)
      if (part.type === "result")
        repairs.push({ path, call: part.call, what: "removed", value: part as unknown as Json });
  repairs.push(...looseKept(list));
  return { messages: finish(format, paired, options), repairs };
}

/** Throws OPTIONS_INVALID. */
function checkReadOptions(options: ReadOptions): void {
  const usage = 'the messages, and { at, id: (index) => "m", openEnd: "close" or "keep" }';
  checkOptions(usage, options);
  const { at, id, openEnd = "close" } = options;
  checkNumber(usage, at);
  if (id !== undefined) checkFunction(usage, id);
  checkWord(usage, openEnd, ["close", "keep"]);
}

/** What the messages with a unit's results say besides them: it stays with the unit. */
function besideResults(list: readonly ReadMessage[], index: number) {
  const rest = list.slice(index + 1);
  const end = rest.findIndex(({ role }) => role !== "tool");
  const following = rest.slice(0, end === -1 ? rest.length : end);
  const kept = following.flatMap((message) => (message.kept ?? []).map(({ part }) => ({ at: 0, part })));
  return { kept, fields: Object.assign({}, ...following.map(({ fields }) => fields)) as JsonObject };
}

/** What messages of tools say that follow no call: there is no unit for it to stay with. */
function looseKept(list: readonly ReadMessage[]): Repair[] {
  let hasCalls = false;
  return list.flatMap(({ role, parts, kept = [], path }) => {
    if (role !== "tool") hasCalls = parts.some(({ part }) => part.type === "call");
    if (role !== "tool" || hasCalls) return [];
    return kept.map(({ part }): Repair => ({ path, call: "", what: "removed", value: part }));
  });
}

/** Gives calls an id of their own where theirs is used by an earlier one, and their results with them. */
function renameCalls(list: readonly ReadMessage[], repairs: Repair[]): void {
  const used = new Set<string>();
  const now = new Map<string, string>();
  for (const { parts, path } of list) {
    for (const read of parts) {
      const { part } = read;
      if (part.type === "result") read.part = { ...part, call: now.get(part.call) ?? part.call };
      if (part.type !== "call") continue;
      let id = part.id;
      for (let times = 2; used.has(id); times++) id = `${part.id}~${times}`;
      used.add(id);
      now.set(part.id, id);
      if (id === part.id) continue;
      repairs.push({ path, call: part.id, what: "renamed", value: id });
      read.part = { ...part, id };
    }
  }
}

interface Pairing {
  readonly repairs: Repair[];
  /** Whether a call without a result is closed. */
  readonly closes: boolean;
}

/** The results of a message's calls, taken out of wherever they stand. */
function resultsOf(
  calls: readonly CallPart[],
  list: readonly ReadMessage[],
  index: number,
  { repairs, closes }: Pairing,
): ReadPart[] {
  const open = new Map(calls.map((call) => [call.id, call]));
  const results: ReadPart[] = [];
  let isNext = true;
  for (const message of list.slice(index + 1)) {
    isNext &&= message.role === "tool";
    if (open.size === 0) break;
    message.parts = message.parts.filter((read) => {
      const call = read.part.type === "result" ? open.get(read.part.call) : undefined;
      if (call === undefined) return true;
      open.delete(call.id);
      results.push({ ...read, part: { ...(read.part as ResultPart), tool: call.tool } });
      if (!isNext) repairs.push({ path: message.path, call: call.id, what: "moved" });
      return false;
    });
  }
  if (!closes) return results;
  for (const { id, tool } of open.values()) {
    repairs.push({ path: list[index]?.path ?? "", call: id, what: "closed" });
    results.push({ part: { type: "result", call: id, tool, output: reasons.interrupted, isError: true } });
  }
  return results;
}
