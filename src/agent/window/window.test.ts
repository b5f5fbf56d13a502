/** Windows: what must hold of every window of every thread, and what is shortened in which order. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message, Part } from "../thread/message.ts";
import {
  allMessages,
  append,
  branchFrom,
  emptyThread,
  lengthOf,
  messageAt,
  messagesOf,
  type Overlay,
  type Thread,
} from "../thread/thread.ts";
import { openCalls, unitsBack } from "../thread/unit.ts";
import { gptCounter } from "./gpt.ts";
import { addOverlay } from "./overlay.ts";
import type { WindowOptions } from "./piece.ts";
import { clearedText, cutTo } from "./shorten.ts";
import { compact, planSummary } from "./summary.ts";
import { type Counter, counterFrom, estimate } from "./tokens.ts";
import { buildWindow, type Window } from "./window.ts";

const text = (id: string, role: "user" | "assistant" | "system", said: string, at = 0): Message => ({
  id,
  role,
  at,
  parts: [{ type: "text", text: said }],
});
const call = (id: string, ...tools: string[]): Message => ({
  id,
  role: "assistant",
  at: 0,
  parts: [
    { type: "thinking", text: "hm" },
    ...tools.map((tool, index): Part => ({ type: "call", id: `${id}.${index}`, tool, input: { q: "x" } })),
  ],
});
const result = (id: string, of: string, tool: string, output: string): Message => ({
  id,
  role: "tool",
  at: 0,
  parts: [{ type: "result", call: of, tool, output }],
});
const threadOf = (...messages: Message[]): Thread => {
  const thread = emptyThread();
  for (const message of messages) append(thread, message);
  return thread;
};
const byCharacter = counterFrom((said) => Math.ceil(said.length / 4));
const counters: Record<string, Counter> = {
  "the exact tokenizer": await gptCounter(),
  "the estimate": estimate(),
  "a quarter of the characters": byCharacter,
};
const shown = ({ messages }: Window) => messages.map(({ id }) => id);

/** One thing said, by numbers. */
interface Said {
  readonly kind: number;
  readonly size: number;
  readonly pick: number;
}
const conversations = fc.array(fc.record({ kind: fc.nat(9), size: fc.nat(60), pick: fc.nat(1_000) }), {
  maxLength: 40,
});
const words = ["amber ", "tide ", "we decided ", "日本語", '{"k":1}', "naïve ", "0x3f ", "\n"];

function grow(thread: Thread, { kind, size, pick }: Said, name: string, count: Counter): void {
  const long = Array.from({ length: size }, (_, index) => words[(pick + index) % words.length]).join("");
  const [open] = openCalls(thread);
  if (open !== undefined && kind < 8) {
    const output = kind === 0 ? { deep: [long.repeat(20)] } : long.repeat(kind === 1 ? 30 : 1);
    append(thread, {
      ...result(name, open.id, open.tool, ""),
      parts: [{ type: "result", call: open.id, tool: open.tool, output }],
    });
  } else if (open !== undefined) return;
  else if (kind < 3) append(thread, text(name, "user", long, pick));
  else if (kind < 5) append(thread, text(name, "assistant", long, pick));
  else if (kind < 8) append(thread, call(name, ...["search", "read", "pay"].slice(0, 1 + (pick % 3))));
  else if (kind === 8 && size < 10) append(thread, text(name, "system", `rule ${pick}`));
  else if (kind === 8)
    compact(thread, { id: name, now: 0, budget: 50 + pick, count, keepRecent: 1 + (size % 4) });
  else if (lengthOf(thread) > 0) branchFrom(thread, pick % lengthOf(thread));
}

/** W1: told without the window's own code. */
function expectPaired(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const { role, parts } of messages) {
    if (role !== "tool") {
      expect([...open]).toEqual([]);
      open = new Set(parts.flatMap((part) => (part.type === "call" ? [part.id] : [])));
    } else for (const part of parts) expect(part.type === "result" && open.delete(part.call)).toBe(true);
  }
  expect([...open]).toEqual([]);
}

function expectSubsequence(all: readonly Message[], messages: readonly Message[]): void {
  let at = -1;
  for (const message of messages) {
    const { metadata = {} } = message;
    if (message.id === "system" || metadata.pending === true || metadata.overlay !== undefined) continue;
    const found = all.findIndex(({ id }) => id === message.id);
    expect(found).toBeGreaterThan(at);
    at = found;
    if (metadata.cleared !== true && metadata.cut === undefined) expect(message).toBe(all[found]);
  }
}

function expectKept(thread: Thread, window: Window, options: WindowOptions): void {
  const ids = new Set(shown(window));
  const all = messagesOf(thread);
  const system = all.filter(({ role }) => role === "system");
  expect(system.every(({ id }) => ids.has(id))).toBe(true);
  const units = [...unitsBack(thread)].filter(({ messages }) => messages[0]?.role !== "system");
  for (const { id } of units[0]?.messages ?? []) expect(ids).toContain(id);
  const recent = units.slice(0, options.keepRecent).flatMap(({ messages }) => messages);
  const asked = all.slice(0, all.findIndex(({ id }) => id === recent.at(-1)?.id) + 1);
  const opening = asked.findLast(({ role }) => role === "user");
  const needed = [...system, ...recent, ...(opening === undefined ? [] : [opening])];
  const tokens = needed.reduce((sum, message) => sum + options.count.message(message), 0);
  const given = options.count.message(text("system", "system", options.system as string));
  if (tokens + given + 40 * openCalls(thread).length <= options.budget)
    for (const { id } of recent) expect(ids).toContain(id);
}

/** What cannot be left out, cut as far as it may be: a window is refused only if this is too large. */
function leastTokens(thread: Thread, { count, system }: WindowOptions): number {
  const all = messagesOf(thread);
  const [newest] = [...unitsBack(thread)].filter(({ messages }) => messages[0]?.role !== "system");
  const first = newest?.messages[0];
  const opening = all
    .slice(0, all.findIndex(({ id }) => id === first?.id) + 1)
    .findLast(({ role }) => role === "user");
  const least = [
    text("system", "system", system as string),
    ...all.filter(({ role }) => role === "system"),
    ...(opening === undefined || opening === first ? [] : [opening]),
    ...(newest?.messages ?? []).map((message) => cutTo(message, 40, count).message),
  ];
  return least.reduce((sum, message) => sum + count.message(message), 0) + 24 * openCalls(thread).length;
}

describe.each(Object.entries(counters))("any window, counted by %s", (_, count) => {
  test("C2: has no orphan, keeps system and recent, is a subsequence, and within its budget", () => {
    let refused = 0;
    let built = 0;
    fc.assert(
      fc.property(
        conversations,
        fc.integer({ min: 20, max: 3_000 }),
        fc.nat(8),
        (said, budget, keepRecent) => {
          const thread = emptyThread();
          for (const [index, one] of said.entries()) grow(thread, one, `m${index}`, count);
          const options: WindowOptions = {
            budget,
            count,
            now: 1_000,
            system: "You help.",
            keepRecent: 1 + keepRecent,
            refetchable: (tool) => tool !== "pay",
            // Also of other branches, and of places that are none.
            wanted: said.flatMap(({ pick }, index) => (pick % 5 === 0 ? [index] : [])),
          };
          const before = JSON.stringify(thread);
          let window: Window;
          try {
            window = buildWindow(thread, options);
            built++;
          } catch (error) {
            expect((error as { code?: string }).code).toBe("WINDOW_TOO_SMALL");
            expect(leastTokens(thread, options)).toBeGreaterThan(budget * 0.8);
            refused++;
            return;
          }
          const { messages, tokens, left } = window;
          const all = messagesOf(thread);
          expect(JSON.stringify(thread)).toBe(before);
          expectPaired(messages);
          expectSubsequence(all, messages);
          expectKept(thread, window, options);
          expect(messages.reduce((sum, message) => sum + count.message(message), 0)).toBe(tokens);
          expect(tokens).toBeLessThanOrEqual(budget);
          const entries = messages.filter(({ id }) => all.some((entry) => entry.id === id));
          expect(window.positions.map((position) => messageAt(thread, position)?.id)).toEqual(
            entries.map(({ id }) => id),
          );
          expect(left.dropped + left.summarised + entries.length).toBe(all.length);
          expect(left.dropped).toBeGreaterThanOrEqual(0);
          expect(left.pending).toEqual(openCalls(thread).map(({ id }) => id));
        },
      ),
      { numRuns: 400 },
    );
    expect(built).toBeGreaterThan(refused);
    expect(refused).toBeGreaterThan(0);
  });
});

const padding = "lorem ipsum dolor sit amet ".repeat(20);

describe("what does not fit", () => {
  const turns = (count: number): Message[] =>
    Array.from({ length: count }, (_, index) => [
      text(`u${index}`, "user", `question ${index} ${padding}`),
      text(`a${index}`, "assistant", `answer ${index} ${padding}`),
    ]).flat();
  const options = (budget: number): WindowOptions => ({ budget, count: byCharacter, now: 0 });

  test("C2: everything is shown as it is while it fits", () => {
    const thread = threadOf(...turns(3));
    const window = buildWindow(thread, { ...options(10_000), system: [text("s", "system", "Be kind.")] });
    expect(shown(window)).toEqual(["s", "u0", "a0", "u1", "a1", "u2", "a2"]);
    expect(window.left).toEqual({ dropped: 0, summarised: 0, cleared: [], cut: [], pending: [] });
  });

  test("C2: old results that can be fetched again are cleared first, and the record of the call stays", () => {
    const thread = threadOf(
      text("u0", "user", "find it"),
      call("c", "search", "pay"),
      result("r0", "c.0", "search", padding.repeat(5)),
      result("r1", "c.1", "pay", "paid 12 euros"),
      text("a", "assistant", "found"),
      text("u1", "user", "and now?"),
    );
    const window = buildWindow(thread, {
      ...options(300),
      keepRecent: 2,
      refetchable: (tool) => tool === "search",
    });
    expect(shown(window)).toEqual(["u0", "c", "r0", "r1", "a", "u1"]);
    expect(window.left.cleared).toEqual(["c.0"]);
    expect(window.messages[2]?.parts[0]).toMatchObject({ call: "c.0", output: clearedText });
    expect(window.messages[3]?.parts[0]).toMatchObject({ output: "paid 12 euros" });
    expect(messagesOf(thread)[2]?.parts[0]).toMatchObject({ output: padding.repeat(5) });
  });

  test("C2: then the oldest units go, an answer with its question", () => {
    const thread = threadOf(...turns(10));
    const window = buildWindow(thread, { ...options(145 * 7), keepRecent: 2 });
    expect(shown(window)).toEqual(["u7", "a7", "u8", "a8", "u9", "a9"]);
    expect(window.left.dropped).toBe(14);
  });

  test("C2: importance outweighs age, and age is told at the time of reading", () => {
    const thread = threadOf(
      { ...text("rule", "user", padding), metadata: { importance: 1_000 } },
      ...turns(10),
    );
    const window = buildWindow(thread, { ...options(145 * 6), keepRecent: 2 });
    expect(shown(window)).toContain("rule");
    const aged = { ...options(145 * 6), keepRecent: 2, now: 20 * 86_400_000 };
    const stale = threadOf({
      ...text("rule", "user", padding, -86_400_000),
      metadata: { importance: 1_000 },
    });
    for (const message of turns(10)) append(stale, { ...message, at: aged.now });
    expect(shown(buildWindow(stale, aged))).not.toContain("rule");
    expect(shown(buildWindow(stale, { ...aged, halfLife: { ms: Number.POSITIVE_INFINITY } }))).toContain(
      "rule",
    );
    const own = {
      ...options(145 * 6),
      keepRecent: 2,
      importance: ({ id }: Message) => (id === "u5" ? 99 : 1),
    };
    expect(shown(buildWindow(threadOf(...turns(10)), own))).toContain("u5");
  });

  test("C2: a result too large for any window is cut, with a mark, and so is what a tool was given", () => {
    const thread = threadOf(
      text("u", "user", "read it all"),
      {
        ...call("c"),
        parts: [{ type: "call", id: "c.0", tool: "write", input: { file: padding.repeat(50) } }],
      },
      result("r", "c.0", "write", `begin ${padding.repeat(100)} end`),
    );
    const window = buildWindow(thread, options(400));
    expect(window.left.cut).toEqual(["c.0"]);
    expect(window.tokens).toBeLessThanOrEqual(400);
    expect(window.tokens).toBeGreaterThan(300);
    const [part] = window.messages[2]?.parts ?? [];
    expect(part?.type === "result" && part.output).toMatch(/^begin .*\[… \d+ characters cut …\].* end$/);
    expect(window.messages[1]?.parts[0]).toMatchObject({ type: "call", input: { cut: expect.any(String) } });
  });

  test("C2: what nobody may cut is refused with the numbers", () => {
    const thread = threadOf(text("u", "user", padding));
    expect(() => buildWindow(thread, options(100))).toThrow(
      expect.objectContaining({ code: "WINDOW_TOO_SMALL" }),
    );
    expect(() => buildWindow(thread, { ...options(200), system: padding.repeat(2) })).toThrow(
      /system messages alone/,
    );
    expect(() => buildWindow(thread, options(0))).toThrow(/no room/);
  });

  test("a thread in which nothing was said has a window of its system messages", () => {
    expect(shown(buildWindow(emptyThread(), { ...options(50), system: "Hello" }))).toEqual(["system"]);
    expect(buildWindow(emptyThread(), options(50)).messages).toEqual([]);
  });

  test("an open call is shown as pending, and another branch can be looked at", () => {
    const thread = threadOf(text("u", "user", "go"), call("c", "search"));
    const window = buildWindow(thread, options(1_000));
    expect(window.left.pending).toEqual(["c.0"]);
    expect(window.messages.at(-1)).toMatchObject({ role: "tool", metadata: { pending: true } });
    expect(shown(buildWindow(thread, { ...options(1_000), head: 0 }))).toEqual(["u"]);
    expect(shown(buildWindow(thread, { ...options(1_000), head: null }))).toEqual([]);
  });

  test("a greeting that nobody asked for stays while the user who answers it does", () => {
    const thread = threadOf(text("a", "assistant", "welcome"), ...turns(1));
    expect(shown(buildWindow(thread, options(2_000)))).toEqual(["a", "u0", "a0"]);
  });
});

describe("summaries", () => {
  const count = byCharacter;
  const long = (turns: number): Thread =>
    threadOf(
      ...Array.from({ length: turns }, (_, index) => [
        text(
          `u${index}`,
          "user",
          index === 3 ? "We decided to ship on Friday with the blue logo." : `tell me of ${index} ${padding}`,
        ),
        call(`c${index}`, "search"),
        result(`r${index}`, `c${index}.0`, "search", padding),
        text(
          `a${index}`,
          "assistant",
          index === 5 ? "The invoice check is still pending." : `here is ${index} ${padding}`,
        ),
      ]).flat(),
    );
  const due = { budget: 3_000, count };

  test("C2: a summary is due when the branch outgrows its window, stands for whole units, and leaves the recent ones", () => {
    expect(planSummary(long(3), due)).toBeUndefined();
    const thread = long(12);
    const plan = planSummary(thread, due);
    expect(plan?.from).toBe(0);
    expect(messageAt(thread, (plan?.to ?? 0) + 1)?.role).not.toBe("tool");
    expect(plan?.messages.at(-1)?.id).toBe(messageAt(thread, plan?.to ?? 0)?.id);
  });

  test("C2: the summary is shown in place of what it stands for, and the originals stay", () => {
    const thread = long(12);
    const said = JSON.stringify(thread.pages);
    const overlay = compact(thread, { ...due, id: "s1", now: 9 });
    expect(overlay?.text).toContain("We decided to ship on Friday");
    expect(overlay?.text).toContain("invoice check is still pending");
    expect(overlay?.text).toMatch(/Tools used: search ×\d+/);
    expect(count.text(overlay?.text ?? "")).toBeLessThanOrEqual(450);
    expect(JSON.stringify(thread.pages)).toBe(said);
    const window = buildWindow(thread, { ...due, now: 9 });
    expect(window.messages[0]).toMatchObject({ id: "s1", role: "user", metadata: { overlay: "s1" } });
    expect(window.left.summarised).toBe((overlay?.to ?? 0) + 1);
    expect(window.left.dropped).toBe(0);
  });

  test("C2: the next summary takes in the one before, and keeps what was decided", () => {
    const thread = long(12);
    compact(thread, { ...due, id: "s1", now: 9 });
    expect(compact(thread, { ...due, id: "s2", now: 9 })).toBeUndefined();
    for (const message of allMessages(long(24)).slice(48)) append(thread, message);
    const second = compact(thread, { ...due, id: "s2", now: 10 });
    expect(second?.from).toBe(0);
    expect(second?.text).toContain("We decided to ship on Friday");
    expect(Number(/search ×(\d+)/.exec(second?.text ?? "")?.[1])).toBeGreaterThan(12);
    expect(shown(buildWindow(thread, { ...due, now: 10 }))[0]).toBe("s2");
  });

  test("a branch that leaves inside a summary sees the messages, and earlier summaries that still fit", () => {
    const thread = long(12);
    const overlay = compact(thread, { ...due, id: "s1", now: 9 }) as Overlay;
    branchFrom(thread, overlay.to - 1);
    expect(shown(buildWindow(thread, { ...due, now: 9 }))).not.toContain("s1");
  });

  test.each<[string, Partial<Overlay>]>([
    ["half a unit at its end", { from: 0, to: 1 }],
    ["half a unit at its beginning", { from: 2, to: 3 }],
    ["the wrong order", { from: 3, to: 0 }],
    ["what is not there", { from: 0, to: 99 }],
    ["nothing said", { text: " " }],
    ["an id that is none", { id: "" }],
    ["a time that is none", { at: Number.NaN }],
  ])("one of %s is refused", (_, wrong) => {
    const thread = long(2);
    const overlay: Overlay = { id: "s", from: 0, to: 3, text: "so it was", at: 0, ...wrong };
    expect(() => addOverlay(thread, overlay)).toThrow(expect.objectContaining({ code: "OVERLAY_INVALID" }));
    expect(thread.overlays).toEqual([]);
  });

  test("one of an id that is used, or across branches, is refused", () => {
    const thread = long(2);
    addOverlay(thread, { id: "s", from: 0, to: 3, text: "so it was", at: 0 });
    expect(() => addOverlay(thread, { id: "s", from: 4, to: 7, text: "x", at: 0 })).toThrow(/used already/);
    branchFrom(thread, "a0");
    append(thread, text("other", "user", "no"));
    expect(() => addOverlay(thread, { id: "t", from: 4, to: 8, text: "x", at: 0 })).toThrow(
      /not on one branch/,
    );
  });
});
