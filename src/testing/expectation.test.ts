/** Expectations: what they accept, and what they say when it is not so. */
import { AssertionError } from "node:assert";
import { describe, expect, onTestFinished, test } from "vitest";
import { booking, cheap, dear } from "../../test/harness/booking.ts";
import { harness } from "./harness.ts";
import { later, never } from "./script.ts";

const scripts = { search: () => [cheap, dear], book: () => ({ reference: "X1" }) };

async function started(given: Parameters<typeof harness>[1] = scripts) {
  const made = await harness(booking, given as typeof scripts);
  onTestFinished(() => made.close());
  await made.start({ goal: "NYC" });
  return made;
}

function failureOf(work: () => unknown): AssertionError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(AssertionError);
    return error as AssertionError;
  }
  throw new Error("It did not fail");
}

describe("expect", () => {
  test("accepts a state, and all that is named", async () => {
    const it = await started();
    it.expect("choosing");
    it.expect({
      state: ["choosing"],
      status: "active",
      context: { goal: "NYC", options: [cheap, dear], choice: null },
      output: undefined,
      pending: { timers: ["after.choosing.0"], activities: [], children: [], deferred: [] },
    });
    it.expect({ context: (context) => context.options.length === 2 });
    it.expect({ context: { goal: expect.stringContaining("N") as unknown as string } });
    it.expect({ context: { reference: (value: string | null) => value === null } });
  });

  test("accepts tags of active states", async () => {
    const it = await started({ ...scripts, search: never() });
    it.expect({ tags: ["busy"] });
    expect(failureOf(() => it.expect({ tags: ["idle"] })).message).toContain("none of searching");
  });

  test("says what was expected, what there is, the last steps and what the run waits for", async () => {
    const it = await started();
    await it.advance("1h");
    await it.send("choose", { flight: "nowhere" });
    const { message, expected, actual } = failureOf(() => it.expect("booked"));
    expect([expected, actual]).toEqual(["booked", "choosing"]);
    expect(message).toMatchInlineSnapshot(`
      "Expected the run "booking" to be in "booked", but it is in "choosing":
        state
          expected "booked"
          actual   "choosing"

      Steps:
        1. +0 ms start {"goal":"NYC"}: taken → searching
        2. +0 ms done.invoke.searching [{"id":"DL123","price":400},{"id":"BA1","price":900}]: taken → choosing
        3. +1 h choose {"flight":"nowhere"}: ignored → choosing
      It waits for:
        timer after.choosing.0, due in 1 d 23 h"
    `);
  });

  test("says everything that is wrong", async () => {
    const it = await started({ ...scripts, search: later("5s", []) });
    await it.send("choose", { flight: "DL123" });
    const { message, expected, actual } = failureOf(() =>
      it.expect({ state: "failed", status: "done", context: { goal: "Rome" }, pending: { timers: ["x"] } }),
    );
    expect(expected).toEqual({
      state: "failed",
      status: "done",
      "context.goal": "Rome",
      "pending.timers": ["x"],
    });
    expect(actual).toMatchObject({ state: "searching", status: "active", "context.goal": "NYC" });
    expect(message).toMatchInlineSnapshot(`
      "The run "booking" is not as expected:
        state
          expected "failed"
          actual   "searching"
        status
          expected "done"
          actual   "active"
        context.goal
          expected "Rome"
          actual   "NYC"
        pending.timers
          expected ["x"]
          actual   []

      Steps:
        1. +0 ms start {"goal":"NYC"}: taken → searching
        2. +0 ms choose {"flight":"DL123"}: deferred → searching
      It waits for:
        activity search, attempt 1 running since 0 ms
        deferred event choose"
    `);
  });

  test("names the state that was meant", async () => {
    const it = await started();
    expect(failureOf(() => it.expect("chosing")).message).toBe(
      'The machine "booking" has no state "chosing"; did you mean "choosing"?',
    );
    expect(failureOf(() => it.expect("quite-another")).message).toContain("it has searching, choosing");
  });

  test("shows only the last five steps of a long journal", async () => {
    const it = await started();
    for (let round = 0; round < 6; round++) await it.send("price");
    const { message } = failureOf(() => it.expect("failed"));
    expect(message).toContain("The last 5 of 8 steps:\n  4. ");
  });

  test("a list is compared as a whole, and an object that is none is told", async () => {
    const it = await started();
    expect(failureOf(() => it.expect({ context: { options: [cheap] } })).message).toContain(
      "context.options",
    );
    expect(() => it.expect({ context: { choice: cheap } })).toThrow("context.choice");
    expect(() => it.expect({ context: { goal: () => false } })).toThrow("what a function accepts");
    expect(() => it.expect({ reason: expect.anything() })).toThrow("reason");
  });
});

describe("expectCalls", () => {
  test("accepts a number, or the inputs in order, and gives the calls", async () => {
    const it = await started();
    expect(it.expectCalls("search", 1)).toHaveLength(1);
    it.expectCalls("search", [{ goal: "NYC" }]);
    it.expectCalls("book", 0);
  });

  test("shows the calls there were, and the name that was meant", async () => {
    const it = await started();
    expect(failureOf(() => it.expectCalls("search", 2)).message).toBe(
      'Expected 2 calls of "search", and there was 1 call:\n  search({"goal":"NYC"})  attempt 1, done, key booking:1.0',
    );
    expect(failureOf(() => it.expectCalls("search", [{ goal: "Rome" }])).message).toContain(
      "with these inputs",
    );
    expect(failureOf(() => it.expectCalls("book", 1)).message).toBe(
      'Expected 1 call of "book", and there were 0 calls',
    );
    expect(failureOf(() => it.expectCalls("serch", 1)).message).toContain('did you mean "search"?');
  });
});

describe("expectEvent", () => {
  test("gives the last step of that event that is as expected", async () => {
    const it = await started();
    await it.send("choose", { flight: "nowhere" });
    await it.send("choose", { flight: "DL123" });
    expect(it.expectEvent("choose").seq).toBe(4);
    expect(it.expectEvent("choose", { outcome: "ignored", data: { flight: "nowhere" } }).seq).toBe(3);
    expect(failureOf(() => it.expectEvent("choose", { outcome: "refused" })).message).toContain(
      'took "choose", but not as expected {"outcome":"refused"}',
    );
    expect(failureOf(() => it.expectEvent("chose")).message).toContain('did you mean "choose"?');
  });
});
