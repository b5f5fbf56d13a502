/** When a run is put aside, and what is no reason for it. */
import { expect, test } from "vitest";
import { counter } from "../../test/runtime/machines.ts";
import { closedError } from "../errors.ts";
import { type LiveRun, newRun } from "./live/live-run.ts";
import { ParkedError, parkWith } from "./park.ts";
import { createRegistry } from "./registry.ts";

/** A run that is parked for what went wrong, and what is told of it. */
async function parking(error: unknown, { isClosed = false, cause = undefined as unknown } = {}) {
  const name = { tenant: "default", run: "a" };
  const run: LiveRun = newRun(
    name,
    createRegistry([counter]).read("counter"),
    { subject: "a", attributes: {} },
    0,
  );
  const told: unknown[] = [];
  const park = parkWith({
    isClosed: () => isClosed,
    find: async () => run,
    deliver: async (_, event) => {
      if (cause !== undefined) throw cause;
      told.push(event.type);
    },
    problem: (_, problem) => void told.push(problem),
  });
  park(run, error);
  await new Promise((resolve) => setImmediate(resolve));
  return told;
}

test("a run that cannot go on is parked, and if it cannot be that is told", async () => {
  expect(await parking(new Error("no"))).toEqual(["park"]);
  const cause = new Error("never");
  expect(await parking(new Error("no"), { cause })).toEqual([cause]);
});

test("a run is not parked because it was parked before, since it may have been brought back", async () => {
  expect(await parking(new ParkedError({ tenant: "default", run: "a" }))).toEqual([]);
});

test("a run is not parked because its runtime was closed, and nothing is told of it", async () => {
  expect(await parking(closedError(), { isClosed: true, cause: closedError() })).toEqual([]);
});
