/** Charts on which Holdfast once was wrong, found by the proof and shrunk. They must agree for good. */
import { expect, test } from "vitest";
import { compound, final, history, on, parallel, plan, state } from "../../test/generate/by-hand.ts";
import type { Plan } from "../../test/generate/plan.ts";
import { judge } from "./judge.ts";

const counts = [[{ count: 1 }]];

const found: Readonly<Record<string, Plan>> = {
  "a history outside the domain enters nothing that was not left": plan(
    [
      parallel("p", [compound("c", [state("a", { transitions: [on("e", ["h"])] }), state("b")]), state("d")]),
      history("h", "b", { deep: true }),
    ],
    "e",
  ),
  "what a transition to a history did once is not what it always does": plan(
    [
      compound("c", [state("a", { transitions: [on("e", ["h"])] }), state("b"), history("h", "a")], {
        transitions: [on("b", ["b"]), on("out", ["o"])],
      }),
      state("o", { transitions: [on("in", ["c"])] }),
    ],
    "e",
    "b",
    "out",
    "in",
    "e",
  ),
  "a state that stays runs the default content of the history it starts with": plan(
    [
      compound(
        "c",
        [state("a"), history("h", "a", { fallback: { targets: ["a"], actions: [{ log: "default" }] } })],
        { initial: { targets: ["h"], actions: [{ log: "initial" }] }, transitions: [on("e", ["c"])] },
      ),
    ],
    "e",
  ),
  "a leaf that stays is not entered through a history that was filled meanwhile": plan(
    [
      compound(
        "c",
        [
          parallel("p", [state("a", { transitions: [on("e", ["h"])] }), state("b")]),
          history("h", "a", { deep: true }),
        ],
        { transitions: [on("e", ["f"])] },
      ),
      final("f"),
    ],
    "e",
  ),
  "the last write stands, also when it came from outside the regions": plan(
    [
      compound(
        "c",
        [parallel("p", [state("a", { exit: counts }), state("b", { exit: counts })]), state("d")],
        {
          exit: counts,
          transitions: [on("e", ["d"], { reenter: true })],
        },
      ),
    ],
    "e",
  ),
  "the last write stands through parallel states in parallel states": plan([
    parallel("p", [
      parallel("q", [state("a", { entry: counts }), state("b", { entry: counts })]),
      state("c", { entry: counts }),
    ]),
  ]),
  "a guard that fails on the error it raises does not go on for ever": plan(
    [
      state("a", {
        transitions: [
          on("e", [], { guard: { throws: true } }),
          on("error.*", [], { guard: { throws: true } }),
        ],
      }),
    ],
    "e",
  ),
};

test.each(Object.entries(found))("%s", (_, chart) => {
  expect(judge(chart, "native")).toMatchObject({ agrees: true });
});
