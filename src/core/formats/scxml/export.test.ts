/** Documents as they are written, and what could not be. Round trips of random machines are in `test/formats`. */
import { describe, expect, test } from "vitest";
import type { MachineDefinition } from "../../definition.ts";
import { defineMachine } from "../../machine.ts";
import { plainModel } from "../../plain-model.ts";
import { simulate } from "../../simulate.ts";
import { toScxml } from "./export.ts";
import { importScxml, type ScxmlDefinition } from "./import.ts";

const linesOf = (definition: MachineDefinition) =>
  toScxml(defineMachine({ unhandled: "ignore", matching: "scxml", ...definition }))
    .text.trimEnd()
    .split("\n")
    .slice(1);
const notesOf = (definition: MachineDefinition) =>
  toScxml(defineMachine(definition)).notes.map(({ path, topic }) => `${path}: ${topic}`);

describe("a document", () => {
  test("without expressions is of the null data model, and comes back", () => {
    const machine = defineMachine({
      id: "door",
      unhandled: "ignore",
      matching: "scxml",
      initial: "closed",
      states: {
        closed: {
          entry: [[{ raise: "creak" }], [{ cancel: "x" }]],
          on: [{ event: ["open", "push"], target: "opened.wide" }],
        },
        opened: {
          initial: { target: "wide", actions: { raise: "air" } },
          states: { wide: {}, h: { type: "history", history: "deep", target: "wide" } },
          after: { "5s": { target: "closed" } },
          always: { guard: { in: "closed" }, target: "closed" },
          on: [
            { event: "inside", target: ".wide" },
            { event: "again", target: "opened" },
          ],
        },
        broken: { type: "final" },
      },
    });
    const { text, notes } = toScxml(machine);
    expect(notes).toEqual([]);
    expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="door" initial="closed" datamodel="null">
  <state id="closed">
    <onentry>
      <raise event="creak"/>
    </onentry>
    <onentry>
      <cancel sendid="x"/>
    </onentry>
    <transition event="open push" target="wide"/>
  </state>
  <state id="opened">
    <initial>
      <transition target="wide">
        <raise event="air"/>
      </transition>
    </initial>
    <onentry>
      <send event="after.opened.0" id="after.opened.0" delay="5000ms"/>
    </onentry>
    <onexit>
      <cancel sendid="after.opened.0"/>
    </onexit>
    <transition event="inside" target="wide" type="internal"/>
    <transition event="again" target="wide" type="internal">
      <raise event="air"/>
    </transition>
    <transition event="after.opened.0" target="closed"/>
    <transition cond="In('closed')" target="closed"/>
    <state id="wide"/>
    <history id="h" type="deep">
      <transition target="wide"/>
    </history>
  </state>
  <final id="broken"/>
</scxml>
`);
    const back = simulate(defineMachine(importScxml(text)));
    back.send("open");
    expect(back.state.configuration).toEqual(["opened.wide"]);
    back.advance("5s");
    expect(back.state.configuration).toEqual(["closed"]);
  });

  test("writes constants as expressions", () => {
    expect(
      linesOf({
        id: "m",
        start: { n: 1, text: 'a "b" <c>' },
        initial: "a",
        states: {
          a: {
            exit: [
              { log: { x: 1 }, label: "l" },
              { raise: { type: "r", data: [1] } },
              { send: { type: "s", data: "d", to: { child: "kid" }, delay: 5, id: "i" } },
              { send: { type: "p", to: "parent" } },
              {
                choose: [
                  { guard: { not: { in: "a" } }, actions: { log: 1 } },
                  { guard: { or: [] }, actions: [] },
                  { actions: { log: 2 } },
                ],
              },
            ],
            on: [{ event: "go", guard: { and: [{ in: "a" }, { or: [{ in: "f" }] }] }, target: "f" }],
          },
          f: { type: "final", output: { done: true } },
        },
      }),
    ).toEqual(
      `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="m" initial="a" datamodel="ecmascript">
  <datamodel>
    <data id="n" expr="1"/>
    <data id="text" expr="&quot;a \\&quot;b\\&quot; &lt;c&gt;&quot;"/>
  </datamodel>
  <state id="a">
    <onexit>
      <log label="l" expr="{&quot;x&quot;:1}"/>
      <send event="r" target="#_internal">
        <content expr="[1]"/>
      </send>
      <send event="s" target="#_kid" delay="5ms" id="i">
        <content expr="&quot;d&quot;"/>
      </send>
      <send event="p" target="#_parent"/>
      <if cond="!(In('a'))">
        <log expr="1"/>
        <elseif cond="false"/>
        <else/>
        <log expr="2"/>
      </if>
    </onexit>
    <transition event="go" cond="(In('a')) &amp;&amp; ((In('f')))" target="f"/>
  </state>
  <final id="f">
    <donedata>
      <content expr="{&quot;done&quot;:true}"/>
    </donedata>
  </final>
</scxml>`.split("\n"),
    );
  });

  test("gives states ids that are one word, unique, and no beginning of another", () => {
    const text = linesOf({
      id: "m",
      matching: "exact",
      initial: "a",
      states: {
        a: { initial: "x", states: { x: { type: "final" } }, onDone: "b" },
        b: {
          id: "my.id",
          initial: "x",
          states: { x: { id: "two words" } },
          on: [{ event: "done.state.a", target: "a" }],
        },
        "c d": {},
      },
    }).join("\n");
    expect([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      "a",
      "a-x",
      "my-id",
      "two-words",
      "c-d",
    ]);
    expect(text).toContain('<transition event="done.state.a" target="my-id"/>');
  });

  test("says that a key is exact where the machine speaks of longer events", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "ignore",
      initial: "a",
      states: { a: { on: { x: "b", "*": "a", "x.y": { guard: { in: "a" }, target: "a" } } }, b: {} },
    });
    const { text, notes } = toScxml(machine);
    expect(
      text
        .split("\n")
        .filter((line) => line.includes("<transition"))
        .map((line) => line.trim()),
    ).toEqual([
      '<transition event="x" cond="_event.name === &quot;x&quot;" target="b"/>',
      `<transition event="x.y" cond="In('a')"/>`,
      '<transition event="*"/>',
    ]);
    expect(notes.map(({ topic }) => topic)).toEqual(["prefix"]);
  });

  test("holds the documents of children", () => {
    const child = defineMachine({
      id: "child",
      unhandled: "ignore",
      matching: "scxml",
      initial: "x",
      states: { x: { type: "final" } },
    });
    const machine = defineMachine({
      id: "m",
      unhandled: "ignore",
      matching: "scxml",
      initial: "a",
      states: {
        a: {
          invoke: {
            id: "kid",
            machine: child,
            input: { n: 1 },
            autoforward: true,
            finalize: { raise: "f" },
            onDone: "b",
          },
        },
        b: {},
      },
    });
    const { text, notes } = toScxml(machine);
    expect(notes).toEqual([]);
    expect(text).toContain('<invoke id="kid" autoforward="true">\n      <param name="n" expr="1"/>');
    expect(text).toContain('<transition event="done.invoke.kid" target="b"/>');
    expect(text).toMatch(/<content>\s*<scxml [^>]*name="child"/);
  });

  test("of a parallel machine has one state around its regions", () => {
    const lines = linesOf({ id: "m", type: "parallel", writes: "last", states: { a: {}, b: {} } });
    expect(lines.slice(1, 4)).toEqual(['  <parallel id="m">', '    <state id="a"/>', '    <state id="b"/>']);
  });
});

test("a document that came from SCXML is written as it was", () => {
  const source = `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="d" initial="a" datamodel="ecmascript" binding="late">
  <datamodel>
    <data id="n" expr="1"/>
  </datamodel>
  <script>var x = 1;</script>
  <state id="a">
    <datamodel>
      <data id="late" expr="[2]"/>
    </datamodel>
    <onentry>
      <assign location="n" expr="n + 1"/>
      <script>n++</script>
      <foreach array="late" item="i" index="k">
        <log expr="i"/>
      </foreach>
      <log label="only"/>
      <send eventexpr="'e' + n" targetexpr="'#_internal'" delayexpr="n + 's'" idlocation="late">
        <param name="p" expr="n"/>
      </send>
      <cancel sendidexpr="late"/>
      <if cond="n &gt; 1">
        <raise event="r"/>
      </if>
    </onentry>
    <transition event="r" cond="n == 3" target="b"/>
  </state>
  <final id="b">
    <donedata>
      <param name="n" expr="n"/>
    </donedata>
  </final>
</scxml>
`;
  const model = {
    ...{
      name: "ecmascript",
      start: () => () => ({}),
      value: () => () => undefined,
      condition: () => () => true,
    },
    ...{
      update: () => () => ({}),
      action: () => () => undefined,
      location: () => () => undefined,
      declare: () => () => undefined,
    },
  };
  const definition: ScxmlDefinition = importScxml(source, { model: () => model });
  const { text, notes } = toScxml(defineMachine(definition));
  expect(notes).toEqual([]);
  expect(text.split("\n").slice(1).join("\n")).toBe(source);
});

describe("notes", () => {
  test("say what cannot be written", () => {
    expect(
      notesOf({
        id: "m",
        start: () => ({}),
        limits: { steps: 5 },
        entry: { log: 1 },
        output: 1,
        initial: "a",
        guards: { g: () => true },
        updates: { u: () => undefined },
        states: {
          a: {
            tags: ["t"],
            defer: ["d"],
            invariants: { i: () => true },
            entry: [
              { update: "u" },
              { emit: "e" },
              { reply: 1 },
              { compensate: true },
              { stop: "x" },
              { log: () => 1 },
              { raise: () => ({ type: "r" }) },
              { send: () => ({ type: "s" }) },
              { send: { type: "s", to: () => "self" as const } },
              { send: { type: "s", delay: 5, resume: "restart" } },
            ],
            on: { go: { guard: "g", target: "b", update: "u", require: { r: () => true } } },
            after: [{ delay: () => 5, target: "b" }],
            invoke: [{ activity: "work" }, { id: "k", machine: "stranger", input: () => 1, onError: "b" }],
          },
          b: { type: "parallel", states: { c: {}, d: {} }, on: { in: ".c", own: "b" } },
        },
      }),
    ).toEqual([
      "limits: policy",
      "unhandled: unhandled",
      "entry: root",
      "output: root",
      "matching: prefix",
      "start: function",
      "states.a.defer: defer",
      "states.a.invariants: contract",
      "states.a.tags: text",
      "states.a.after[0]: delay",
      "states.a.entry[0]: function",
      "states.a.entry[1]: emit",
      "states.a.entry[2]: reply",
      "states.a.entry[3]: compensate",
      "states.a.entry[4]: spawn",
      "states.a.entry[5]: function",
      "states.a.entry[6]: function",
      "states.a.entry[7]: function",
      "states.a.entry[8]: function",
      "states.a.entry[9]: resume",
      "states.a.invoke.onError: activity",
      "states.a.on.go: contract",
      "states.a.on.go.guard: function",
      "states.a.on.go: guard",
      "states.a.on.go.update: function",
      "states.a.invoke: activity",
      "states.a.invoke[1]: child",
      "states.a.invoke[1]: function",
      "states.b.writes: writes",
      "states.b.on.in: parallel-inside",
      "states.b.on.own: parallel-inside",
    ]);
  });

  test("say that guards which cannot be written are never taken", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "ignore",
      start: { list: [1] },
      guards: { below: () => true },
      initial: "a",
      states: {
        a: { on: { go: { guard: { and: [{ type: "below", params: 3 }, { error: "Busy" }] }, target: "b" } } },
        b: { map: { over: "list", activity: "work", onDone: "a", onError: "a" } },
      },
    });
    const { text, notes } = toScxml(machine);
    expect(text).toContain('<transition event="go" cond="false" target="b"/>');
    expect(text).not.toMatch(/cond="[^"]*\{/);
    const topics = notes.map(({ path, topic }) => `${path}: ${topic}`);
    expect(topics).toEqual(
      expect.arrayContaining([
        "states.a.on.go.guard: function",
        "states.a.on.go.guard: error",
        "states.a.on.go: guard",
        "states.b.entry: map",
        "states.b.exit: map",
        "states.b.states.worker1.states.taking.always[0].guard: map",
      ]),
    );
  });

  test("say that text of another data model is left out", () => {
    const model = {
      ...plainModel,
      name: "cel",
      start: () => () => ({}),
      value: () => () => 1,
      action: () => () => undefined,
      declare: () => () => undefined,
      condition: () => () => true,
    };
    expect(
      notesOf({
        id: "m",
        model,
        unhandled: "ignore",
        matching: "scxml",
        initial: "a",
        states: {
          a: {
            data: { cel: "1" },
            entry: [{ log: { cel: "1" } }, { model: { cel: "x" } }],
            always: { guard: { cel: "true" }, target: "a" },
          },
        },
      }),
    ).toEqual([
      "states.a.data: model",
      "states.a.entry[0]: model",
      "states.a.entry[1]: model",
      "states.a.always.guard: model",
      "states.a.always: guard",
    ]);
  });
});
