/** What a run waits for when its definition changes: each survives, is let go, or stands in the way, and is told of. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { at, begin, go, machine, moved, refusal } from "../../../test/evolution/versions.ts";
import { defineMachine, type State, settledEvent, step } from "../../index.ts";
import type { Machine } from "../machine.ts";

const cancels = (kind: string, key: string, id?: string) => ({
  type: "cancel",
  of: kind,
  key,
  ...(id === undefined ? {} : { id }),
});

describe("hot swap", () => {
  test("while an activity runs, a timer is pending and an event is deferred, each survives", () => {
    const working = {
      invoke: { activity: "search", onDone: "b" },
      after: { "1h": "late" },
      defer: ["note"],
      on: { other: "b" },
    };
    const rest = { b: { on: { note: "c" } }, c: {}, late: {} };
    const from = machine(1, { states: { a: working, ...rest } });
    const to = machine(2, {
      initial: "b",
      states: {
        x: { ...working, invoke: [{ activity: "log" }, { activity: "search", onDone: "b" }] },
        ...rest,
      },
    });
    const state = begin(from, { type: "note" });
    const { step: made, report } = moved(go(from, to, state, { states: { a: "x" } }));
    expect(made.state.activities).toEqual([
      { key: "1.1", id: "x:1", state: "x", index: 1, activity: "search" },
      { key: "3.0", id: "x:0", state: "x", index: 0, activity: "log" },
    ]);
    expect(made.state.timers).toEqual([
      { key: "1.0", due: 3_600_000, event: { type: "after.x.0", kind: "platform" }, state: "x" },
    ]);
    expect(made.state.deferred).toEqual(state.deferred);
    expect(report.changed.map(({ before, after }) => [before.state, after.state, after.kind])).toEqual([
      ["a", "x", "activity"],
      ["a", "x", "timer"],
    ]);
    expect(report.survived).toEqual([{ kind: "event", name: "note" }]);
    expect(report.begun).toEqual([{ kind: "activity", name: "log", key: "3.0", id: "x:0", state: "x" }]);
    expect(made.effects).toEqual([{ type: "activity", key: "3.0", id: "x:0", activity: "log", options: {} }]);
    // The attempt that was under way still ends under the name it began with.
    const ended = step(to, made.state, settledEvent({ id: "a", key: "1.1" }, { output: 1 }), { at });
    expect(ended.state.configuration).toEqual(["c"]);
    const late = step(
      to,
      made.state,
      { type: "after.x.0", kind: "platform", timer: "1.0" },
      { at: 3_600_000 },
    );
    expect(late.state.configuration).toEqual(["late"]);
  });
});

describe("timers", () => {
  const timed = (version: number, after: object, more: object = {}): Machine =>
    machine(version, { states: { a: { after }, b: {}, c: {}, ...more } } as never);
  const timersOf = ({ timers }: State) => timers.map(({ key, due, event }) => [key, due, event.type]);

  test("keep the time they are due, wherever their delay stands now and however long it is", () => {
    const from = timed(1, { "1h": "b", "2h": "c" });
    const state = begin(from);
    const swapped = moved(go(from, timed(2, { "2h": "c", "60 min": "b" }), state)).step.state;
    expect(timersOf(swapped)).toEqual([
      ["1.0", 3_600_000, "after.a.1"],
      ["1.1", 7_200_000, "after.a.0"],
    ]);
    const longer = moved(go(from, timed(2, { "3h": "c", "1h": "b" }), state)).step.state;
    expect(timersOf(longer)).toEqual([
      ["1.0", 3_600_000, "after.a.1"],
      ["1.1", 7_200_000, "after.a.0"],
    ]);
  });

  test("one that is let go begins anew where the new version has it", () => {
    const from = timed(1, { "1h": "b" });
    const to = timed(2, { "2h": "b" });
    const { step: made, report } = moved(go(from, to, begin(from), { events: { "after.a.0": null } }));
    expect(timersOf(made.state)).toEqual([["2.0", at + 7_200_000, "after.a.0"]]);
    expect(made.effects).toEqual([
      cancels("timer", "1.0"),
      { type: "timer", key: "2.0", due: at + 7_200_000 },
    ]);
    expect([report.dropped, report.begun].map((list) => list.map(({ key }) => key))).toEqual([
      ["1.0"],
      ["2.0"],
    ]);
  });

  test("begin where they are new, and never again where they have fired", () => {
    const from = timed(1, { 5: { actions: { log: "fired" } } });
    const fired = step(
      from,
      begin(from),
      { type: "after.a.0", kind: "platform", timer: "1.0" },
      { at: 5 },
    ).state;
    expect(fired.timers).toEqual([]);
    const to = timed(2, { 5: { actions: { log: "fired" } }, 9: "b" });
    expect(timersOf(moved(go(from, to, fired)).step.state)).toEqual([["3.0", at + 9, "after.a.1"]]);
    const listed = timed(2, [{ delay: () => 7, target: "c" }] as never);
    expect(timersOf(moved(go(timed(1, {}), listed, begin(timed(1, {})))).step.state)).toEqual([
      ["2.0", at + 7, "after.a.0"],
    ]);
    const again = timed(3, [{ delay: () => 8, target: "b" }] as never);
    const kept = moved(go(listed, again, moved(go(timed(1, {}), listed, begin(timed(1, {})))).step.state));
    expect(kept.report.survived).toHaveLength(1);
  });

  test("one whose delay cannot be worked out stands in the way", () => {
    const from = timed(1, {});
    const broken = [{ delay: () => "soon", target: "b" }];
    expect(refusal(go(from, timed(2, broken as never), begin(from)))).toEqual([
      expect.stringContaining('a.after[0] | cannot begin: "soon" is not a delay'),
    ]);
    const root = machine(2, { after: broken, states: { a: {}, b: {}, c: {} } } as never);
    expect(refusal(go(from, root, begin(from)))[0]).toContain("after[0] | cannot begin");
  });

  test("one that leads elsewhere after another time is another one", () => {
    const from = timed(1, { "1h": "b" });
    expect(refusal(go(from, timed(2, { "2h": "c" }), begin(from)))).toEqual([
      'timers[0] | leads nowhere any more: "a" has no such delay | map it to "after.a.0", or let go of it with `events`: { "after.a.0": null }',
    ]);
    expect(refusal(go(from, timed(2, {}), begin(from)))).toEqual([
      'timers[0] | leads nowhere any more: "a" has no such delay | let go of it with `events`: { "after.a.0": null }',
    ]);
    const same = moved(
      go(from, timed(2, { "2h": "c" }), begin(from), { events: { "after.a.0": "after.a.0" } }),
    );
    expect(same.report.survived).toHaveLength(1);
    expect(refusal(go(from, timed(2, {}), begin(from), { states: { a: "b" } }))[0]).toContain(
      "leads nowhere",
    );
  });

  test("one of a state that is not active any more stands in the way, or is dropped if asked", () => {
    const from = machine(1, {
      states: { a: { initial: "x", after: { "1h": "b" }, states: { x: {} } }, b: {} },
    });
    const to = machine(2, { initial: "b", states: { b: {} } });
    const way = { states: { "a.x": "b" } };
    expect(refusal(go(from, to, begin(from), way))).toEqual([
      'timers[0] | is of the state "a", which would not be active | map that state in `states`, or let go of it with `events`: { "after.a.0": null }',
    ]);
    const { step: made, report } = moved(go(from, to, begin(from), way, { drop: true }));
    expect([made.state.timers, made.effects]).toEqual([[], [cancels("timer", "1.0")]]);
    expect(report.dropped).toEqual([{ kind: "timer", name: "after.a.0", key: "1.0", state: "a" }]);
  });

  test("two that have become one cannot both go along", () => {
    const region = { initial: "x", states: { x: { after: { "1h": { actions: { log: 1 } } } } } };
    const from = machine(1, {
      initial: "p",
      states: { p: { type: "parallel", states: { one: region, two: region } } },
    });
    const to = machine(2, { initial: "x", states: { x: region.states.x } } as never);
    const way = { states: { "p.one.x": "x", "p.two.x": "x" } };
    expect(refusal(go(from, to, begin(from), way))).toHaveLength(1);
  });

  test("delayed sends survive where there is a use for their events", () => {
    const sends = (type: string) => ({
      entry: { send: { type, data: { n: 1 }, delay: 50, id: "s" } },
      on: { [type]: "b" },
    });
    const from = machine(1, { states: { a: sends("remind"), b: {} } });
    const state = begin(from);
    const other = machine(2, { states: { a: sends("remember"), b: {} } });
    expect(
      moved(go(from, machine(2, { states: { a: sends("remind"), b: {} } }), state)).step.state.timers,
    ).toBe(state.timers);
    expect(refusal(go(from, other, state))).toEqual([
      'timers[0] | is for the event "remind", which version 2 has no use for | map it in `events`: { "remind": … }, to null to let go of it; there are remember',
    ]);
    const renamed = moved(go(from, other, state, { events: { remind: "remember" } }));
    expect(renamed.step.state.timers).toMatchObject([
      { key: "1.0", due: 50, id: "s", event: { type: "remember" } },
    ]);
    const gone = moved(go(from, other, state, { events: { remind: null } }));
    expect(gone.step.effects).toEqual([cancels("timer", "1.0", "s")]);
    const any = machine(2, { states: { a: { on: { "*": "b" } }, b: {} } });
    expect(moved(go(from, any, state)).report.survived).toHaveLength(1);
    const typed = machine(2, {
      events: { remind: z.object({ n: z.string() }) },
      states: { a: { on: { remind: "b" } }, b: {} },
    });
    expect(refusal(go(from, typed, state))[0]).toContain(
      'timers[0] | cannot be kept: The event "remind" does not fit its schema: data.n',
    );
    const made = go(from, typed, state, {
      events: { remind: { type: "remind", data: ({ n }: { n: number }) => ({ n: String(n) }) } },
    });
    expect(moved(made).step.state.timers).toMatchObject([{ event: { data: { n: "1" } } }]);
    const none = go(from, any, state, { events: { remind: { type: "x", data: () => undefined } } });
    expect(moved(none).step.state.timers[0]?.event).toEqual({ type: "x", sendId: "s" });
  });

  test("those for others go along, to children by their new names", () => {
    const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
    const invoke = { machine: child };
    const entry = [
      { send: { type: "hello", to: { run: "other" }, delay: 5 } },
      { send: { type: "hello", to: { child: "a" }, delay: 5 } },
    ];
    const from = machine(1, { states: { a: { invoke, entry } } });
    const to = machine(2, { initial: "b", states: { b: { invoke } } });
    const { timers } = moved(go(from, to, begin(from), { states: { a: "b" } })).step.state;
    expect(timers.map((timer) => timer.to)).toEqual([{ run: "other" }, { child: "b" }]);
  });
});
