/** Threads: what may be added, branches, units, and that a thread can always go on. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { produce } from "../../core/draft.ts";
import type { Message, Part } from "./message.ts";
import { searchThread } from "./search.ts";
import {
  allMessages,
  append,
  branchBefore,
  branches,
  branchFrom,
  emptyThread,
  findMessage,
  lengthOf,
  messageAt,
  messagesOf,
  newestFirst,
  positionsBack,
  switchTo,
  type Thread,
  versionsOf,
} from "./thread.ts";
import { closeOpenCalls, openCalls, reasons, unitsBack, unitsOf } from "./unit.ts";

const say = (id: string, role: "user" | "assistant" | "system", text: string): Message => ({
  id,
  role,
  at: 0,
  parts: [{ type: "text", text }],
});
const calls = (id: string, ...ids: string[]): Message => ({
  id,
  role: "assistant",
  at: 0,
  parts: ids.map((call): Part => ({ type: "call", id: call, tool: "look", input: { at: call } })),
});
const results = (id: string, ...ids: string[]): Message => ({
  id,
  role: "tool",
  at: 0,
  parts: ids.map((call): Part => ({ type: "result", call, tool: "look", output: "seen" })),
});
const threadOf = (...messages: Message[]): Thread => {
  const thread = emptyThread();
  for (const message of messages) append(thread, message);
  return thread;
};
const ids = (thread: Thread) => messagesOf(thread).map(({ id }) => id);
const refusal = (code: string) => expect.objectContaining({ code });

describe("what was said", () => {
  test("C1: messages keep role, time, parts and metadata, and come back in their order", () => {
    const hello: Message = { ...say("a", "user", "hello"), at: 7, metadata: { channel: "mail" } };
    const thread = threadOf(hello, say("b", "assistant", "good day"));
    expect(messagesOf(thread)).toEqual([
      { ...hello, after: null },
      { ...say("b", "assistant", "good day"), after: 0 },
    ]);
    expect([...newestFirst(thread)].map(({ id }) => id)).toEqual(["b", "a"]);
    expect(findMessage(thread, "b")?.position).toBe(1);
    expect(findMessage(thread, "c")).toBeUndefined();
  });

  test("C1: an edited message begins a branch, and the one before stays", () => {
    const thread = threadOf(say("a", "user", "1"), say("b", "assistant", "2"), say("c", "user", "3"));
    branchBefore(thread, "c");
    append(thread, say("d", "user", "3, but better"));
    append(thread, say("e", "assistant", "4"));
    expect(ids(thread)).toEqual(["a", "b", "d", "e"]);
    expect(versionsOf(thread, "d").map(({ id }) => id)).toEqual(["c", "d"]);
    expect(branches(thread).map(({ id, length, active }) => ({ id, length, active }))).toEqual([
      { id: "e", length: 4, active: true },
      { id: "c", length: 3, active: false },
    ]);
    switchTo(thread, "c");
    expect(ids(thread)).toEqual(["a", "b", "c"]);
    switchTo(thread, "b");
    expect(ids(thread)).toEqual(["a", "b", "d", "e"]);
    branchFrom(thread, "b");
    expect(ids(thread)).toEqual(["a", "b"]);
    branchBefore(thread, "a");
    expect(ids(thread)).toEqual([]);
    append(thread, say("f", "user", "from the beginning"));
    expect(versionsOf(thread, "a").map(({ id }) => id)).toEqual(["a", "f"]);
  });

  test("a branch is walked only as far as it is asked for", () => {
    const thread = threadOf(say("a", "user", "1"), say("b", "assistant", "2"));
    const walk = positionsBack(thread);
    expect(walk.next().value).toBe(1);
  });
});

describe("what is refused changes nothing", () => {
  const base = () => threadOf(say("a", "user", "hi"), calls("b", "c1", "c2"));
  test.each<[string, string, Message]>([
    ["an id that is used", "MESSAGE_KNOWN", results("a", "c1")],
    ["a second message while calls are open", "CALLS_OPEN", say("x", "user", "well?")],
    ["a result of no call", "CALL_UNKNOWN", results("x", "c1", "c3")],
    [
      "a result of another tool",
      "CALL_UNKNOWN",
      { ...results("x"), parts: [{ type: "result", call: "c1", tool: "other", output: 1 }] },
    ],
    ["two results of one call", "MESSAGE_INVALID", results("x", "c1", "c1")],
    ["no result at all", "MESSAGE_INVALID", results("x")],
    ["an empty id", "MESSAGE_INVALID", results("", "c1")],
    ["a time that is none", "MESSAGE_INVALID", { ...results("x", "c1"), at: Number.NaN }],
    ["a role that is none", "MESSAGE_INVALID", { ...results("x", "c1"), role: "toString" as never }],
    ["what is no message", "MESSAGE_INVALID", null as never],
    ["a call by a tool", "MESSAGE_INVALID", { ...calls("x", "c9"), role: "tool" }],
    [
      "what is not JSON",
      "NOT_JSON",
      { ...results("x"), parts: [{ type: "result", call: "c1", tool: "look", output: (() => 1) as never }] },
    ],
  ])("%s", (_, code, message) => {
    const thread = base();
    const before = JSON.stringify(thread);
    expect(() => append(thread, message)).toThrow(refusal(code));
    expect(JSON.stringify(thread)).toBe(before);
  });

  test("a result for a call that has one, and a call id that is used", () => {
    const thread = base();
    append(thread, results("r", "c1", "c2"));
    expect(() => append(thread, results("r2", "c1"))).toThrow(refusal("CALL_UNKNOWN"));
    expect(() => append(thread, calls("d", "c1"))).toThrow(refusal("MESSAGE_KNOWN"));
    expect(() => branchFrom(thread, "zzz")).toThrow(refusal("MESSAGE_UNKNOWN"));
    expect(() => switchTo(thread, 99)).toThrow(refusal("MESSAGE_UNKNOWN"));
    expect(ids(thread)).toEqual(["a", "b", "r"]);
  });

  test.each<[string, Part]>([
    ["a text without text", { type: "text" } as never],
    ["a file that is nowhere", { type: "file", mediaType: "image/png" }],
    ["a file of no kind", { type: "file", url: "x" } as never],
    ["a call without id", { type: "call", id: "", tool: "t", input: {} }],
    ["a call of nothing", { type: "call", id: "c", tool: "", input: {} }],
    ["a call without input", { type: "call", id: "c", tool: "t" } as never],
    ["a part of no kind", { type: "noise" } as never],
  ])("%s, with its place", (_, part) => {
    const message: Message = { id: "m", role: "assistant", at: 0, parts: [{ type: "text", text: "" }, part] };
    expect(() => append(emptyThread(), message)).toThrow(/parts\[1\]/);
  });
});

describe("units", () => {
  test("C1: an assistant message, its calls and all their results are one unit", () => {
    const thread = threadOf(
      say("a", "user", "hi"),
      calls("b", "c1", "c2"),
      results("r1", "c2"),
      results("r2", "c1"),
      say("d", "assistant", "done"),
    );
    const expected = [["a"], ["b", "r1", "r2"], ["d"]];
    expect(unitsOf(messagesOf(thread)).map(({ messages }) => messages.map(({ id }) => id))).toEqual(expected);
    const back = [...unitsBack(thread)].map(({ messages }) => messages.map(({ id }) => id));
    expect(back.reverse()).toEqual(expected);
  });

  test("C1: open calls are closed with results that say why, and the thread goes on", () => {
    const thread = threadOf(say("a", "user", "hi"), calls("b", "c1", "c2", "c3"), results("r1", "c2"));
    expect(openCalls(thread).map(({ id }) => id)).toEqual(["c1", "c3"]);
    const closed = closeOpenCalls(thread, { id: "x", at: 5, reason: "unknown", calls: ["c3"] });
    expect(closed.map(({ id }) => id)).toEqual(["c3"]);
    closeOpenCalls(thread, { id: "y", at: 6, reason: "The power was off." });
    expect(messagesOf(thread).at(-2)?.parts).toEqual([
      { type: "result", call: "c3", tool: "look", output: reasons.unknown, isError: true },
    ]);
    expect(messagesOf(thread).at(-1)?.parts[0]).toMatchObject({ output: "The power was off." });
    expect(openCalls(thread)).toEqual([]);
    expect(closeOpenCalls(thread, { id: "z", at: 7, reason: "interrupted" })).toEqual([]);
    append(thread, say("d", "user", "and now?"));
    expect(ids(thread)).toEqual(["a", "b", "r1", "x", "y", "d"]);
  });

  test("a branch that begins inside a unit has its calls open, and may answer them anew", () => {
    const thread = threadOf(
      say("a", "user", "hi"),
      calls("b", "c1"),
      results("r", "c1"),
      say("d", "user", "ok"),
    );
    branchFrom(thread, "b");
    expect(openCalls(thread).map(({ id }) => id)).toEqual(["c1"]);
    append(thread, results("r2", "c1"));
    expect(ids(thread)).toEqual(["a", "b", "r2"]);
  });
});

describe("a thread in a context", () => {
  test("is changed through a draft, and what a refused recipe added is forgotten", () => {
    let state = produce(
      { thread: emptyThread() },
      (draft: { thread: Thread }) => {
        append(draft.thread, say("a", "user", "1"));
        append(draft.thread, calls("b", "c1"));
        append(draft.thread, results("r", "c1"));
      },
      undefined,
    );
    expect(() =>
      produce(
        state,
        (draft: { thread: Thread }) => {
          append(draft.thread, say("c", "user", "2"));
          throw new Error("no");
        },
        undefined,
      ),
    ).toThrow("no");
    expect(findMessage(state.thread, "c")).toBeUndefined();
    state = produce(
      state,
      (draft: { thread: Thread }) => {
        append(draft.thread, say("c", "assistant", "3"));
      },
      undefined,
    );
    expect(ids(state.thread)).toEqual(["a", "b", "r", "c"]);
    expect(Object.isFrozen(messageAt(state.thread, 0))).toBe(true);
  });

  test("does not look at old messages when one is added", () => {
    const thread = threadOf(...Array.from({ length: 100 }, (_, index) => say(`m${index}`, "user", "x")));
    const state = Object.freeze({ thread });
    const next = produce(
      state,
      (draft: { thread: Thread }) => {
        append(draft.thread, say("new", "user", "y"));
      },
      undefined,
    );
    for (const [index, message] of allMessages(thread).entries())
      expect(messageAt(next.thread, index)).toBe(message);
  });
});

/** Anything somebody may do to a thread, by numbers that are taken modulo what there is. */
type Deed = { readonly kind: number; readonly pick: number };
const deeds = fc.array(fc.record({ kind: fc.nat(7), pick: fc.nat(1_000) }), { maxLength: 60 });

function act(thread: Thread, { kind, pick }: Deed, name: string): void {
  const some = messageAt(thread, pick % Math.max(1, lengthOf(thread)));
  const open = openCalls(thread);
  const made: Message[] = [
    say(name, "user", `word${pick}`),
    say(name, "assistant", "fine"),
    calls(name, ...Array.from({ length: 1 + (pick % 3) }, (_, index) => `${name}.${index}`)),
    results(name, ...open.slice(0, 1 + (pick % 2)).map(({ id }) => id)),
  ];
  const message = made[kind];
  if (message !== undefined) append(thread, message);
  else if (some !== undefined && kind === 4) branchFrom(thread, some.id);
  else if (some !== undefined && kind === 5) branchBefore(thread, some.id);
  else if (some !== undefined && kind === 6) switchTo(thread, some.id);
  else closeOpenCalls(thread, { id: name, at: 0, reason: "interrupted" });
}

/** What is true of every branch of every thread, told without the thread's own readers. */
function checkThread({ pages }: Thread, head: number | null): void {
  const messages = pages.flat();
  const path: Message[] = [];
  for (let at = head; at !== null; at = messages[at]?.after ?? null) path.unshift(messages[at] as Message);
  let open = new Set<string>();
  for (const { role, parts } of path) {
    if (role !== "tool") {
      expect(open.size).toBe(0);
      open = new Set(parts.flatMap((part) => (part.type === "call" ? [part.id] : [])));
    } else for (const part of parts) expect(part.type === "result" && open.delete(part.call)).toBe(true);
  }
}

test("C1: whatever is done to a thread, no branch has an orphan, and each can go on", () => {
  fc.assert(
    fc.property(deeds, (list) => {
      let state = { thread: emptyThread() };
      for (const [index, deed] of list.entries()) {
        try {
          state = produce(
            state,
            (draft: { thread: Thread }) => act(draft.thread, deed, `m${index}`),
            undefined,
          );
        } catch (error) {
          expect(["CALLS_OPEN", "MESSAGE_INVALID"]).toContain((error as { code?: string }).code);
        }
        checkThread(state.thread, state.thread.head);
      }
      const { thread } = state;
      const copy = JSON.parse(JSON.stringify(thread)) as Thread;
      expect(branches(copy)).toEqual(branches(thread));
      for (const { head } of branches(thread)) checkThread(thread, head);
      closeOpenCalls(copy, { id: "close", at: 0, reason: "interrupted" });
      append(copy, say("next", "user", "go on"));
    }),
    { numRuns: 300 },
  );
});

describe("search", () => {
  const thread = threadOf(
    say("a", "user", "Where is the café in Zürich that sells éclairs?"),
    say("b", "assistant", "Nothing of the kind is known to me."),
    say("c", "user", `${"padding ".repeat(80)} the invoices are in the archive ${"padding ".repeat(80)}`),
    calls("d", "c1"),
    { ...results("e"), parts: [{ type: "result", call: "c1", tool: "look", output: { invoice: "F-1001" } }] },
  );
  const found = (query: string) => searchThread(thread, query).map(({ message }) => message.id);

  test("C1: words are found whatever their case, accents and endings, in results too", () => {
    expect(found("CAFE zurich")).toEqual(["a"]);
    expect(found("invoice")).toEqual(["e", "c"]);
    expect(found("selling eclair")).toEqual(["a"]);
    expect(found("nowhere")).toEqual([]);
    expect(found("")).toEqual([]);
  });

  test("a snippet shows the place that fits, and the limit holds", () => {
    const [hit] = searchThread(thread, "archive invoices").filter(({ message }) => message.id === "c");
    expect(hit?.snippet).toMatch(/^….*invoices are in the archive.*…$/);
    expect(searchThread(thread, "the", { limit: 1 })).toHaveLength(1);
  });

  test("other branches are searched when asked for", () => {
    const forked = threadOf(say("a", "user", "apples"), say("b", "assistant", "pears"));
    branchFrom(forked, "a");
    append(forked, say("c", "assistant", "plums"));
    expect(searchThread(forked, "pears")).toEqual([]);
    expect(searchThread(forked, "pears", { everywhere: true }).map(({ message }) => message.id)).toEqual([
      "b",
    ]);
  });
});
