/** The log of tool calls and the working memory: what they keep, and how a model sees them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { diff } from "../../core/patch.ts";
import { beginTask, completeTask, failTask, skipTask } from "./advance.ts";
import { cut } from "./cut.ts";
import { makePlan } from "./plan.ts";
import {
  emptyLog,
  logAttempt,
  logCall,
  logEnd,
  renderLog,
  renderObservation,
  type ToolCall,
  type ToolLog,
} from "./tool-log.ts";
import {
  makeWorkingMemory,
  renderMemory,
  setGoal,
  takeNote,
  viewMemory,
  type WorkingMemory,
} from "./working-memory.ts";

type Recipe = (log: Draft<ToolLog>) => void;
const logOf = (...recipes: Recipe[]): ToolLog =>
  recipes.reduce<ToolLog>((log, recipe) => produce(log, recipe, undefined), emptyLog);
const called =
  (id: string, at = 0, input: ToolCall["input"] = { q: id }): Recipe =>
  (log) =>
    logCall(log, { id, tool: "search", input, at });
const ended =
  (id: string, end: Parameters<typeof logEnd>[2]): Recipe =>
  (log) =>
    logEnd(log, id, end);

describe("the tool log", () => {
  test("C4: keeps arguments, result or error, duration and attempt", () => {
    const log = logOf(
      called("a", 10),
      called("b", 11),
      (draft) => logAttempt(draft, "b", 3),
      ended("a", { output: ["x"], at: 35 }),
      ended("b", { error: { name: "Error", message: "busy" }, at: 111 }),
      called("c"),
      called("d"),
      ended("d", { unknown: true, at: 5 }),
    );
    const search = { tool: "search", attempt: 1 };
    expect(log.open).toEqual({ c: 2 });
    expect(log.calls).toEqual([
      { ...search, id: "a", input: { q: "a" }, status: "done", output: ["x"], startedAt: 10, ms: 25 },
      {
        ...{
          ...search,
          id: "b",
          input: { q: "b" },
          status: "failed",
          error: { name: "Error", message: "busy" },
        },
        ...{ startedAt: 11, ms: 100, attempt: 3 },
      },
      { ...search, id: "c", input: { q: "c" }, status: "running", startedAt: 0 },
      { ...search, id: "d", input: { q: "d" }, status: "unknown", startedAt: 0, ms: 5 },
    ]);
    expect(log.calls.map((call) => renderObservation(call))).toEqual([
      'search({"q":"a"}) gave (25 ms): ["x"]',
      'search({"q":"b"}) failed (100 ms, attempt 3): busy',
      'search({"q":"c"}) is under way',
      'search({"q":"d"}) may or may not have happened (5 ms)',
    ]);
  });

  test("what did not happen is not logged", () => {
    const code = (...recipes: Recipe[]) => {
      try {
        logOf(...recipes);
        return "logged";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(code(called("a"), called("a"))).toBe("CALL_REFUSED");
    expect(code(ended("a", { output: 1, at: 0 }))).toBe("CALL_REFUSED");
    expect(code(called("a"), ended("a", { output: 1, at: 0 }), ended("a", { output: 1, at: 0 }))).toBe(
      "CALL_REFUSED",
    );
  });

  test("C4: the end of a call changes that call only, however long the log is", () => {
    const log = logOf(...Array.from({ length: 300 }, (_, index) => called(`c${index}`)));
    const after = produce(log, ended("c299", { output: 1, at: 1 }), undefined);
    expect(diff({ log } as never, { log: after } as never).length).toBeLessThanOrEqual(4);
    expect(after.calls[0]).toBe(log.calls[0]);
  });

  test("C4: of a long log the newest calls are shown, and how many went before", () => {
    const log = logOf(...Array.from({ length: 100 }, (_, index) => called(`c${index}`)));
    const text = renderLog(log, { maxChars: 200 });
    expect(text.split("\n")).toEqual([
      "(95 earlier calls)",
      ...[95, 96, 97, 98, 99].map((index) => `search({"q":"c${index}"}) is under way`),
    ]);
    expect(renderLog(emptyLog)).toBe("");
  });
});

const texts = fc.array(fc.constantFrom("a", "é", "🪸", "\n", "\uD83E", "\uDEB8", "中", "👩‍🔬"), {
  maxLength: 200,
});

describe("what a model sees", () => {
  test("C4: is never longer than it may be, and never has half a character", () => {
    fc.assert(
      fc.property(texts, fc.nat(300), (parts, maxChars) => {
        const text = parts.join("");
        const short = cut(text, maxChars);
        expect(short.length).toBeLessThanOrEqual(maxChars);
        expect(short.isWellFormed()).toBe(true);
        if (text.length <= maxChars && text.isWellFormed()) expect(short).toBe(text);
        const call = {
          id: "a",
          tool: "t",
          input: text,
          output: text,
          startedAt: 0,
          attempt: 1,
          status: "done",
        } as const;
        const seen = [
          renderObservation(call, { maxChars }),
          renderLog({ calls: [call, call], open: {} }, { maxChars }),
          renderMemory({ ...makeWorkingMemory(text), notes: [{ text, at: 0 }] }, { maxChars }),
        ];
        for (const one of seen) {
          expect(one.length).toBeLessThanOrEqual(maxChars);
          expect(one.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("keeps the beginning and the end of what is long", () => {
    expect(cut(`begin${"x".repeat(500)}end`, 60)).toMatch(/^begin.* … \d+ characters left out … x*end$/);
    expect(cut("🪸🪸", 1)).toBe("");
  });
});

describe("working memory", () => {
  const change = (memory: WorkingMemory, recipe: (draft: Draft<WorkingMemory>) => void) =>
    produce(memory, recipe, undefined);

  test("C3: tells the goal, what is completed, what is pending, and notes", () => {
    const plan = makePlan([
      ...[
        { id: "find", title: "Find papers" },
        { id: "read", title: "Read them", needs: ["find"] },
      ],
      ...[{ id: "ask" }, { id: "buy" }, { id: "mail" }],
    ]);
    let memory = makeWorkingMemory("Compare papers", plan);
    memory = change(memory, (draft) => {
      beginTask(draft.plan, "find", { at: 0 });
      completeTask(draft.plan, "find", { at: 1, result: ["p1", "p2"] });
      beginTask(draft.plan, "ask", { at: 0 });
      failTask(draft.plan, "ask", { at: 1, error: { message: "away" } });
      skipTask(draft.plan, "buy");
      beginTask(draft.plan, "mail", { at: 0 });
      completeTask(draft.plan, "mail", { at: 1 });
      takeNote(draft, { text: "p2 is a preprint", at: 2 });
    });
    const { completed, pending, notes } = viewMemory(memory);
    expect([completed, pending].map((tasks) => tasks.map(({ id }) => id))).toEqual([
      ["find", "buy", "mail"],
      ["read", "ask"],
    ]);
    expect(notes).toEqual([{ text: "p2 is a preprint", at: 2 }]);
    expect(renderMemory(memory).split("\n")).toEqual([
      ...["Goal: Compare papers", "Pending:", "- Read them (after find)", "- ask (failed; last error: away)"],
      ...["Completed:", '- Find papers: ["p1","p2"]', "- buy (skipped)", "- mail"],
      ...["Notes:", "- p2 is a preprint"],
    ]);
    const next = change(memory, (draft) => setGoal(draft, "Rest"));
    expect(renderMemory(next)).toBe("Goal: Rest\nNotes:\n- p2 is a preprint");
  });
});
