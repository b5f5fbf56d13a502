/** What is different between two definitions, told in people's words. */
import { expect, test } from "vitest";
import { z } from "zod";
import { machine } from "../../../test/evolution/versions.ts";
import { defineMachine, type MachineDefinition } from "../../index.ts";
import { jsonSchema } from "../json-schema/schema.ts";
import { plainModel } from "../plain-model.ts";
import { compareDefinitions } from "./compare.ts";

/** Every difference as a line; those that may need a migration begin with an exclamation mark. */
function told(one: object, other: object): string[] {
  const { changes, breaks } = compareDefinitions(machine(1, one), machine(2, other));
  expect(breaks).toBe(changes.some((change) => change.breaks));
  return changes.map((change) => `${change.breaks ? "! " : ""}${change.kind} ${change.path}: ${change.text}`);
}

test("definitions that say the same are not different, in whatever order and library", () => {
  const guard = () => true;
  const events = { go: z.object({ n: z.number() }), stop: {} };
  const states = { a: { on: { go: { guard, target: "b" }, stop: "b" } }, b: {} };
  expect(told({ events, states }, { states, events: { stop: {}, go: z.object({ n: z.number() }) } })).toEqual(
    [],
  );
  const data = (maximum: number) => ({
    context: jsonSchema({ type: "object", properties: { n: { maximum } } }),
  });
  expect(told(data(1), data(1))).toEqual([]);
  expect(told(data(1), data(2))).toEqual(["! changed context: The schema of the context is another"]);
  const mute = { "~standard": { version: 1, vendor: "mute", validate: (value: unknown) => ({ value }) } };
  const broken = {
    "~standard": {
      ...mute["~standard"],
      jsonSchema: {
        input: () => {
          throw new Error("no");
        },
      },
    },
  };
  expect(told({ input: mute }, { input: broken })).toEqual([]);
});

test("states that are new, gone, elsewhere, or of another kind", () => {
  const inner = { initial: "x", states: { x: { on: { go: "y" } }, y: {} } };
  const history = { type: "history", target: "a" };
  expect(
    told(
      { states: { a: {}, old: inner, h: history, f: { type: "final" }, g: {}, k: { on: { go: "a" } } } },
      {
        states: {
          a: inner,
          now: inner,
          f: {},
          g: { type: "final" },
          l: { initial: "k", states: { k: { on: { go: "a" } } } },
        },
      },
    ),
  ).toEqual([
    '! moved old: "old" seems to be "now" now',
    'removed h: The history "h" is gone',
    '! removed k: The state "k" is gone',
    'added a.x: The state "a.x" is new',
    'added a.y: The state "a.y" is new',
    'added l: The state "l" is new, with the one inside',
    '! changed a: "a" was atomic, and is compound',
    'changed a.initial: "a" says something else in initial',
    'changed f: "f" was final, and is atomic',
    '! changed g: "g" was atomic, and is final',
  ]);
  const region = { initial: "x", states: { x: {}, y: {}, z: {} } };
  expect(
    told(
      { initial: "p", states: { p: { type: "parallel", states: { one: region } } } },
      {
        initial: "p",
        states: { p: { type: "parallel", states: { one: { ...region, states: { x: {} } }, two: region } } },
      },
    ),
  ).toEqual([
    '! removed p.one.y: The state "p.one.y" is gone',
    '! removed p.one.z: The state "p.one.z" is gone',
    '! added p.two: The region "p.two" is new, with the 3 inside',
  ]);
  const regions = (three: object) => ({
    initial: "p",
    states: { p: { type: "parallel", states: { one: {}, three } } },
  });
  expect(told(regions({ type: "history", target: "one" }), regions({}))[0]).toBe(
    '! changed p.three: "p.three" was history, and is atomic',
  );
  const twins = { a: {}, t: { tags: ["x"] } };
  const moved = compareDefinitions(
    machine(1, { states: twins }),
    machine(2, { states: { a: {}, u: { tags: ["x"] } } }),
  );
  expect(moved.changes).toMatchObject([{ kind: "moved", fix: 'states: { "t": "u" }' }]);
  expect(told({ states: twins }, { states: { a: {}, u: { tags: ["x"] }, v: { tags: ["x"] } } })[0]).toContain(
    "is gone",
  );
  const deeper = { a: { initial: "t", states: { t: { tags: ["x"] } } }, u: { tags: ["x"] } };
  expect(told({ states: twins }, { states: deeper })[0]).toBe('! moved t: "t" seems to be "a.t" now');
});

test("events, handlers and deferrals", () => {
  expect(
    told(
      {
        events: { a: z.object({}), b: {} },
        states: { a: { defer: ["a", "b"], on: { a: "a", "c.*": "a", "*": "a" } } },
      },
      {
        events: { a: z.object({ n: z.number() }), d: {} },
        states: { a: { defer: ["a", "d"], on: { a: [], d: "a", "c.*": "a" } } },
      },
    ),
  ).toEqual([
    '! removed events: The event "b" is gone',
    'added events: The event "d" is new',
    "! removed events: No state takes whatever comes any more",
    '! changed events.a: The schema of the event "a" is another',
    '! removed a.defer: "a" does not defer "b" any more',
    'added a.defer: "a" defers "d" now',
    'changed a.on.a: "a" takes "a" in another way',
    'removed a.on["*"]: "a" does not take "*" any more',
    'added a.on.d: "a" takes "d" now',
  ]);
  const listed = (target: string) => ({ states: { a: { on: [{ event: "go", target }] }, b: {} } });
  expect(told(listed("a"), listed("b"))).toEqual(['changed a.on: "a" has other handlers']);
  expect(told(listed("a"), listed("a"))).toEqual([]);
  expect(told({ states: { a: { on: { "c.*": "a" } } } }, { states: { a: {} } })).toEqual([
    '! removed events: The event "c.*" is gone',
    'removed a.on["c.*"]: "a" does not take "c.*" any more',
  ]);
  expect(told({ states: { a: { defer: ["x"] } } }, { unhandled: "defer" })).toEqual([
    '! removed events: The event "x" is gone',
    "changed unhandled: What becomes of events that nothing takes is another",
  ]);
  expect(told({ unhandled: { known: "defer" } }, {})[0]).toMatch(/^! changed unhandled/);
});

test("invocations and timers", () => {
  const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
  expect(
    told(
      {
        states: {
          a: {
            invoke: [{ activity: "read" }, { machine: child }, { activity: () => "x", id: "c" }],
            after: { "1s": "b", "2s": "c" },
          },
          b: {},
          c: {},
        },
      },
      {
        states: {
          a: {
            invoke: [{ activity: "read", timeout: "5s" }, { activity: "write" }],
            after: { "3s": "b", "9s": "a" },
          },
          b: {},
          c: {},
        },
      },
    ),
  ).toEqual([
    'changed a.invoke: "a" invokes "read" in another way; what is under way goes on as it began',
    '! removed a.invoke: "a" does not invoke "child" any more',
    '! removed a.invoke: "a" does not invoke "a computed activity" any more',
    'added a.invoke: "a" invokes "write" now; it begins in runs that are there',
    'changed a.after: "a" waits for 3000 ms instead of 1000 ms; what is pending keeps its time',
    '! removed a.after: "a" has no timer of 2000 ms any more',
    'added a.after: "a" has a timer of 9000 ms now; it begins in runs that are there',
  ]);
  const calling = (more: object) => ({
    states: { a: { invoke: { machine: child, ...more }, after: { "1s": "a" } } },
  });
  expect(told(calling({}), calling({}))).toEqual([]);
  expect(told(calling({}), calling({ autoforward: true }))).toEqual([
    'changed a.invoke: "a" invokes "child" in another way; what is under way goes on as it began',
  ]);
  const computed = { states: { a: { after: [{ delay: () => 5, target: "a" }] } } };
  expect(told(computed, {})).toEqual(['! removed a.after: "a" has no timer of a computed delay any more']);
});

test("activities, compensations, the data model and what else a machine says", () => {
  const booking = (compensate: object, names: object) => ({
    activities: names,
    states: { a: { invoke: { activity: "book", ...compensate } }, b: { invoke: { activity: "book" } } },
  });
  expect(
    told(
      booking({ compensate: "undo" }, { same: {}, book: {}, undo: {}, old: {} }),
      booking({}, { same: {}, book: { input: z.string() }, now: {} }),
    ),
  ).toEqual([
    '! removed activities.undo: The activity "undo" is gone',
    'removed activities.old: The activity "old" is gone',
    'changed activities.book: The schemas of the activity "book" are others: what is under way is judged by the new ones',
    'added activities.now: The activity "now" is new',
    "! removed compensate: Nothing is compensated any more",
    'changed a.invoke: "a" invokes "book" in another way; what is under way goes on as it began',
  ]);
  expect(
    told(
      { limits: { steps: 1 }, entry: { log: 1 } },
      { limits: { steps: 2 }, invariants: { one: () => true } },
    ),
  ).toEqual([
    'changed limits: "limits" of the machine is another',
    "changed entry: The machine says something else in entry",
    "! changed invariants: The machine says something else in invariants",
  ]);
  const other = { ...plainModel, name: "other" };
  expect(told({}, { model: other })).toEqual(["! changed model: The data model was plain, and is other"]);
  expect(
    compareDefinitions(machine(1, {}), machine(2, { input: z.string() } as Partial<MachineDefinition>))
      .breaks,
  ).toBe(false);
});
