import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { headOf } from "./conformance/sample.ts";
import { KnownRuns } from "./known.ts";

const nameOf = (index: number) => ({ tenant: "acme", run: `run-${index}` });

/** Runs from 0 on, as many as are given. */
function knownOf(count: number): KnownRuns {
  const known = new KnownRuns();
  for (let index = 0; index < count; index++) known.keep(index, headOf(nameOf(index)));
  return known;
}

test("of more runs than are remembered those in use stay, and those of long ago go", () => {
  const known = knownOf(limits.knownRunsMax + 1);
  expect(known.read(nameOf(0))?.id).toBe(0);
  for (let index = 1; index <= limits.knownRunsMax; index++)
    known.keep(index, headOf({ tenant: "later", run: `run-${index}` }));
  expect([known.read(nameOf(0))?.id, known.read(nameOf(1))]).toEqual([0, undefined]);
});

test("what is forgotten is forgotten, however long it was not in use", () => {
  const known = knownOf(limits.knownRunsMax + 1);
  known.drop(nameOf(0));
  known.drop(nameOf(limits.knownRunsMax));
  expect([known.read(nameOf(0)), known.read(nameOf(limits.knownRunsMax))]).toEqual([undefined, undefined]);
  expect(known.read(nameOf(1))?.id).toBe(1);
  const again = knownOf(10);
  for (let turn = 0; turn < 2 * limits.knownRunsMax; turn++) {
    again.keep(1, headOf(nameOf(1)));
    again.drop(nameOf(1));
    again.keep(2, headOf(nameOf(2)));
  }
  expect(again.read(nameOf(0))?.id, "what is dropped, or kept again, takes no room").toBe(0);
  known.clear();
  expect(known.read(nameOf(2))).toBe(undefined);
});
