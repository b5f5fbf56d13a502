/** Diagrams, read back by a small reader of the part of Mermaid's grammar that they use. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawPlan } from "../../../../test/generate/chart.ts";
import { definitionOf } from "../../../../test/generate/definition.ts";
import { defineMachine } from "../../machine.ts";
import { simulate } from "../../simulate.ts";
import { start } from "../../step.ts";
import { toMermaid } from "./export.ts";
import { runToMermaid } from "./run.ts";

interface Box {
  readonly id: string;
  readonly label: string;
  readonly inside: Box[];
  readonly arrows: { from: string; to: string; label: string | undefined }[];
  regions: number;
}

const unescaped = (text: string): string =>
  text.replace(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

/** The diagram as boxes and arrows; throws at the first line that is none of the grammar's. */
function read(text: string): { root: Box; classes: string[] } {
  const [first, ...lines] = text.trimEnd().split("\n");
  expect(first).toBe("stateDiagram-v2");
  const root: Box = { id: "", label: "", inside: [], arrows: [], regions: 1 };
  const open = [root];
  const classes: string[] = [];
  for (const line of lines) {
    const top = open.at(-1) as Box;
    const state = /^ *state "([^"\n]*)" as ([sc]\d+)( \{)?$/.exec(line);
    const arrow = /^ *([sc]\d+|\[\*\]) --> ([sc]\d+|\[\*\])(?:: ([^:;{}"#]*(?:#\d+;[^:;{}"#]*)*))?$/.exec(
      line,
    );
    const highlighted = /^ *class (s\d+(?:,s\d+)*) active$/.exec(line);
    if (state !== null) {
      const box: Box = { id: state[2]!, label: unescaped(state[1]!), inside: [], arrows: [], regions: 1 };
      top.inside.push(box);
      if (state[3] !== undefined) open.push(box);
    } else if (arrow !== null) {
      top.arrows.push({
        from: arrow[1]!,
        to: arrow[2]!,
        label: arrow[3] === undefined ? undefined : unescaped(arrow[3]),
      });
    } else if (highlighted !== null) classes.push(...highlighted[1]!.split(","));
    else if (/^ *\}$/.test(line)) open.pop();
    else if (/^ *--$/.test(line)) top.regions++;
    else if (!/^ *(direction (TB|LR)|classDef active [\w:#,-]+)$/.test(line))
      throw new Error(`What is “${line}”?`);
  }
  expect(open).toEqual([root]);
  return { root, classes };
}

const boxes = (box: Box): Box[] => [box, ...box.inside.flatMap(boxes)];

const order = defineMachine({
  id: "order",
  initial: "open",
  states: {
    open: {
      invoke: { activity: "price", onDone: "packing", onError: "failed" },
      after: { "2 days": "failed" },
    },
    packing: {
      type: "parallel",
      onDone: "sent",
      states: {
        box: { initial: "empty", states: { empty: { on: { fill: "full" } }, full: { type: "final" } } },
        bill: {
          initial: "none",
          states: { none: { always: { guard: "paid", target: "done" } }, done: { type: "final" } },
        },
        last: { type: "history", target: ["box.empty", "bill.none"] },
      },
      on: { stop: "failed" },
    },
    sent: { type: "final" },
    failed: { on: { again: "packing.last", deep: "packing.box.full", note: {} } },
  },
  guards: { paid: () => true },
});

describe("a diagram", () => {
  const { root } = read(toMermaid(order));

  test("has every state in its place", () => {
    expect(root.inside.map(({ label }) => label)).toEqual(["open / price", "packing", "sent", "failed"]);
    const packing = root.inside[1]!;
    expect(packing.inside.map(({ label }) => label)).toEqual(["box", "H", "bill"]);
    expect(packing.regions).toBe(2);
  });

  test("E2: labels arrows with events, delays, guards and ends", () => {
    const labels = boxes(root).flatMap(({ arrows }) => arrows.map(({ label }) => label));
    expect(labels).toEqual(
      expect.arrayContaining([
        "done open",
        "error open",
        "after 2 days",
        "done",
        "stop",
        "again to packing.last",
        "deep to packing.box.full",
        "note (stays)",
        "fill",
        "always [paid]",
      ]),
    );
  });

  test("begins where the machine does, and ends where it ends", () => {
    const ids = new Map(root.inside.map(({ id, label }) => [label, id]));
    expect(root.arrows).toContainEqual({ from: "[*]", to: ids.get("open / price"), label: undefined });
    expect(root.arrows).toContainEqual({ from: ids.get("sent"), to: "[*]", label: undefined });
  });

  test("E2: highlights where a run is", () => {
    const { state } = start(order, undefined, { at: 0 });
    const { classes } = read(toMermaid(order, { state }));
    expect(classes).toEqual([root.inside[0]!.id]);
    expect(toMermaid(order, { direction: "LR" })).toContain("direction LR");
  });

  test("shows a machine that listens itself, or is parallel, as a state of its own", () => {
    const parallel = defineMachine({
      id: "p",
      type: "parallel",
      states: { a: { on: { x: "b" } }, b: {} },
      on: { y: { guard: { not: { in: "a" } } } },
    });
    const { root: outer } = read(toMermaid(parallel));
    expect(outer.inside.map(({ label }) => label)).toEqual(["p"]);
    expect(outer.arrows.map(({ label }) => label)).toEqual([
      undefined,
      "y [not in a] (stays)",
      "x from a to b",
    ]);
  });

  test("shows guards in few words", () => {
    const guards = [{ type: "below", params: { max: 3 } }, { error: ["Busy", 429] }, { error: "Lost" }];
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: guards.map((guard) => ({ guard })) } } },
    });
    const { root: drawn } = read(toMermaid(machine));
    const labels = drawn.arrows.slice(1).map(({ label }) => label);
    expect(labels).toEqual(["go [below] (stays)", "go [Busy or 429] (stays)", "go [Lost] (stays)"]);
  });

  test("shows delays and children as far as they are known", () => {
    const child = defineMachine({ id: "kid", initial: "x", states: { x: {} } });
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: { machine: child },
          after: [
            { delay: 5, target: "b" },
            { delay: () => 3, target: "b" },
          ],
        },
        b: {
          invoke: [
            { id: "k", machine: "named" },
            { id: "l", activity: () => "one" },
          ],
        },
      },
    });
    const { root: drawn, classes } = read(toMermaid(machine, { state: { configuration: ["gone"] } }));
    expect(drawn.inside.map(({ label }) => label)).toEqual(["a / kid", "b / named / a child"]);
    expect(drawn.arrows.slice(1).map(({ label }) => label)).toEqual(["after 5 ms", "after a while"]);
    expect(classes).toEqual([]);
  });

  test("cannot be broken by names", () => {
    const hostile = [
      '"',
      "}",
      "a: b; c",
      "%% no",
      "<b>x</b>",
      "é ☃ 𝒳",
      "--",
      "[*]",
      "end",
      "state x {",
      "\n  }",
    ];
    const machine = defineMachine({
      id: 'evil"\n',
      initial: hostile[0]!,
      states: Object.fromEntries(
        hostile.map((key, index) => [key, { on: { [key]: hostile[(index + 1) % hostile.length]! } }]),
      ),
    });
    const { root: read1 } = read(toMermaid(machine));
    expect(read1.inside.map(({ label }) => label)).toEqual(hostile);
    expect(read1.arrows.slice(-hostile.length).map(({ label }) => label)).toEqual(hostile);
  });
});

describe("a diagram of what ran", () => {
  test("E2: has a box for every condition, and arrows with the steps that led there", () => {
    const counter = defineMachine({
      id: "counter",
      type: "parallel",
      states: {
        a: { on: { add: {}, "add: 2": {} } },
        b: { initial: "x", states: { x: { on: { go: "y" } }, y: {} } },
      },
    });
    const run = simulate(counter);
    const steps = [{ event: { type: "start" }, configuration: run.state.configuration }];
    for (const type of ["add", "add", "add: 2", "add", "add", "add", "add", "go"]) {
      const { configuration } = run.send(type).state;
      steps.push({ event: { type }, configuration });
    }
    const { root: drawn } = read(runToMermaid(steps));
    expect(drawn.inside.map(({ id, label }) => `${id} ${label}`)).toEqual(["c1 a, b.x", "c2 a, b.y"]);
    expect(drawn.arrows.map(({ from, to, label }) => `${from} ${to} ${label}`)).toEqual([
      "[*] c1 1 start",
      "c1 c1 2, 3, 5, 6 … 8 add",
      "c1 c1 4 add: 2",
      "c1 c2 9 go",
    ]);
    expect(runToMermaid([], { direction: "LR" })).toBe("stateDiagram-v2\n  direction LR\n");
  });
});

test("E2: every random machine's diagram has all its states, once, and arrows between states of one place", () => {
  fc.assert(
    fc.property(fc.noShrink(fc.nat({ max: 0x7fff_ffff })), (seed) => {
      const machine = defineMachine(definitionOf(drawPlan(seed, "native")));
      const { root } = read(toMermaid(machine));
      const ids = boxes(root).map(({ id }) => id);
      const expected = machine.chart.nodes.map(({ index }) => `s${index}`);
      expect(ids.filter((id) => id !== "" && id !== "s0").sort()).toEqual(expected.slice(1).sort());
      for (const box of boxes(root))
        for (const { from, to } of box.arrows)
          for (const end of [from, to])
            expect(end === "[*]" || box.inside.some(({ id }) => id === end)).toBe(true);
    }),
  );
});
