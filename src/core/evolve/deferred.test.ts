/** Deferred events when their definition changes. */
import { expect, test } from "vitest";
import { z } from "zod";
import { begin, go, machine, moved, refusal } from "../../../test/evolution/versions.ts";

const note = (data?: string) => (data === undefined ? { type: "note" } : { type: "note", data });
const from = machine(1, { states: { a: { defer: ["note"] }, b: { on: { note: "a" } } } });
const state = begin(from, note("one"), note("two"));

test("a version that takes them does so in the same step", () => {
  const to = machine(2, {
    start: { list: [] },
    states: {
      a: {
        on: {
          note: {
            update: (draft, { event }) => void (draft as never as { list: unknown[] }).list.push(event.data),
          },
        },
      },
    },
  });
  const migrated = go(from, to, state, { context: () => ({ list: [] }) });
  const { step: made, report } = moved(migrated);
  expect(made.state).toMatchObject({ context: { list: ["one", "two"] }, deferred: [] });
  expect([made.dropped, report.ended.length]).toEqual([[], 2]);
});

test("a version that has no use for them refuses, or lets them go where it is asked to", () => {
  const to = machine(2, { states: { a: {}, b: { on: { notes: "a" } } } });
  expect(refusal(go(from, to, state))).toEqual([
    'deferred[0] | is for the event "note", which version 2 has no use for | did you mean "notes"? map it in `events`: { "note": … }, to null to let go of it; there are notes',
    expect.stringContaining("deferred[1] |"),
  ]);
  expect(refusal(go(from, to, state, { events: { note: "notes" } }))[0]).toBe(
    'deferred[0] | is neither taken nor deferred in a | let a state take it, or let go of it with `events`: { "note": null }',
  );
  for (const made of [
    go(from, to, state, {}, { drop: true }),
    go(from, to, state, { events: { note: null } }),
  ]) {
    const { step, report } = moved(made);
    expect([step.state.deferred, step.dropped, report.dropped]).toEqual([
      [],
      [note("one"), note("two")],
      [
        { kind: "event", name: "note" },
        { kind: "event", name: "note" },
      ],
    ]);
  }
});

test("one that a guard does not let through, and nothing defers, stands in the way", () => {
  const to = machine(2, { states: { a: { on: { note: { guard: ({ event }) => event.data === "one" } } } } });
  expect(refusal(go(from, to, state))).toEqual([
    "deferred[1] | is neither taken nor deferred where the run would be | let a state take it, or map it to null",
  ]);
  const { step, report } = moved(go(from, to, state, {}, { drop: true }));
  expect([step.dropped, report.ended.length, report.dropped.length]).toEqual([[note("two")], 1, 1]);
});

test("they may wait where the whole machine defers, known or not", () => {
  const all = machine(2, { unhandled: "defer", states: { a: {} } });
  expect(moved(go(from, all, state)).report.survived).toHaveLength(2);
  const known = machine(2, { unhandled: { known: "defer" }, states: { a: {}, b: { on: { note: "a" } } } });
  expect(moved(go(from, known, state)).report.survived).toHaveLength(2);
  expect(moved(go(from, known, state, { events: { note: "note" } })).report.survived).toHaveLength(2);
});

test("their data is what the new schema wants; what a schema made once need not fit it again", () => {
  const events = (schema: object) => ({ events: { note: schema }, states: { a: { defer: ["note"] } } });
  const long = z.string().transform((text) => ({ text }));
  const first = machine(1, events(long));
  const waiting = begin(first, note("one"));
  expect(waiting.deferred).toEqual([{ type: "note", data: { text: "one" } }]);
  expect(moved(go(first, machine(2, events(long)), waiting)).step.state.deferred).toEqual(waiting.deferred);
  const wider = machine(2, events(z.object({ text: z.string(), by: z.string().default("somebody") })));
  const { step, report } = moved(go(first, wider, waiting));
  expect(step.state.deferred).toEqual([{ type: "note", data: { text: "one", by: "somebody" } }]);
  expect(report.changed).toHaveLength(1);
  const narrower = machine(2, events(z.object({ text: z.number() })));
  expect(refusal(go(first, narrower, waiting))[0]).toContain(
    'deferred[0] | cannot be kept: The event "note" does not fit its schema: data.text',
  );
  const failing = { events: { note: { type: "note", data: () => BigInt(1) } } };
  expect(refusal(go(first, wider, waiting, failing))[0]).toContain("data is a bigint");
});

test("those of a run that ends on the way stand in its way", () => {
  const to = machine(2, { states: { a: { defer: ["note"], always: "c" }, c: { type: "final" } } });
  expect(refusal(go(from, to, state))).toHaveLength(2);
});
