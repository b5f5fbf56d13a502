/** Documents as definitions: what becomes of each element, and what is refused, with its place. */
import { describe, expect, test } from "vitest";
import type { HoldfastError } from "../../../errors.ts";
import type { DataModel } from "../../data-model.ts";
import { importScxml, type ScxmlOptions } from "./import.ts";

/** Stands for any data model: the importer only hands it on. */
const model = { name: "any" } as DataModel;
const read = (body: string, attributes = "", options: ScxmlOptions = {}) =>
  importScxml(`<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" ${attributes}>${body}</scxml>`, {
    model: () => model,
    ...options,
  });

/** The state with that key, at the top. */
const stateOf = (body: string, key = "s") => read(body).states?.[key];
const entryOf = (content: string) => stateOf(`<state id="s"><onentry>${content}</onentry></state>`)?.entry;

describe("states", () => {
  test("a document becomes a machine that matches, orders and ignores events as SCXML does", () => {
    expect(read('<state id="s"/>', 'name="lamp"')).toMatchObject({
      id: "lamp",
      version: 1,
      matching: "scxml",
      unhandled: "ignore",
      initial: "#s",
      states: { s: { id: "s" } },
      model,
    });
    expect(read('<state id="s"/>').id).toBe("scxml");
    expect(read('<state id="s"/>', 'name="lamp"', { id: "mine" }).id).toBe("mine");
  });

  test("keys are safe, unique and in document order, whatever the ids are", () => {
    const { states, initial } = read(
      '<state id="b.c"/><state id="b_c"/><state id="2"/><state id="1"/><state/><final/>',
    );
    expect(Object.entries(states ?? {}).map(([key, { id }]) => [key, id])).toEqual([
      ["b_c", "b.c"],
      ["b_c_2", "b_c"],
      ["_2", "2"],
      ["_1", "1"],
      ["state-1", "state-1"],
      ["final-1", "final-1"],
    ]);
    expect(initial).toBe("#b.c");
  });

  test("an id that is made up never takes one the author uses later", () => {
    const { states } = read('<state/><state id="state-1"/>');
    expect(Object.values(states ?? {}).map(({ id }) => id)).toEqual(["state-2", "state-1"]);
  });

  test("a compound state begins with <initial>, the attribute, or its first child that is not a history", () => {
    const inner = '<history id="h"><transition target="a"/></history><state id="a"/><state id="b"/>';
    expect(stateOf(`<state id="s">${inner}</state>`)?.initial).toBe("#a");
    expect(stateOf(`<state id="s" initial="b">${inner}</state>`)?.initial).toEqual(["#b"]);
    const content = '<initial><transition target="b"><raise event="e"/></transition></initial>';
    expect(stateOf(`<state id="s">${content}${inner}</state>`)?.initial).toEqual({
      target: ["#b"],
      actions: [{ raise: "e" }],
    });
    expect(read(inner, 'initial="a b"').initial).toEqual(["#a", "#b"]);
  });

  test("histories keep their depth, default and content", () => {
    const inner =
      '<history id="h" type="deep"><transition target="a"><raise event="e"/></transition></history><state id="a"/>';
    expect(stateOf(`<state id="s">${inner}</state>`)?.states?.h).toEqual({
      id: "h",
      type: "history",
      history: "deep",
      target: ["#a"],
      actions: [{ raise: "e" }],
    });
  });

  test("parallel states let the last write stand, and final states give their data", () => {
    expect(stateOf('<parallel id="s"><state id="a"/><state id="b"/></parallel>')).toMatchObject({
      type: "parallel",
      writes: "last",
      states: { a: { id: "a" }, b: { id: "b" } },
    });
    expect(stateOf('<final id="s"><donedata><param name="x" expr="1"/></donedata></final>')).toMatchObject({
      type: "final",
      output: { scxml: "params", lenient: true, params: [{ name: "x", value: { text: "1" } }] },
    });
    expect(stateOf("<final id='s'><donedata><content>21</content></donedata></final>")?.output).toEqual({
      scxml: "constant",
      value: 21,
    });
  });

  test("each handler of entry and exit is a block of its own", () => {
    const blocks =
      '<onentry><raise event="a"/><raise event="b"/></onentry><onentry><raise event="c"/></onentry>';
    expect(stateOf(`<state id="s">${blocks}<onexit><raise event="d"/></onexit></state>`)).toMatchObject({
      entry: [[{ raise: "a" }, { raise: "b" }], [{ raise: "c" }]],
      exit: [[{ raise: "d" }]],
    });
  });

  test("elements of other namespaces are passed over among states", () => {
    expect(read('<v:layout xmlns:v="urn:v"/><state id="s"/>').states).toEqual({ s: { id: "s" } });
  });
});

describe("transitions", () => {
  const inside = (transition: string) =>
    stateOf(
      `<state id="s">${transition}<state id="a"><state id="a1"/></state><state id="b"/></state><state id="t"/>`,
    );

  test("those with events keep document order, those without come apart from them", () => {
    const state = inside(
      '<transition event="e f.*" target="t"/><transition target="a"/><transition event="*"/>',
    );
    expect(state?.on).toEqual([{ event: ["e", "f.*"], target: ["#t"], reenter: true }, { event: ["*"] }]);
    expect(state?.always).toEqual([{ target: ["#a"], reenter: true }]);
  });

  test("internal counts only in a compound state and for targets below it", () => {
    const internal = (target: string) =>
      inside(`<transition event="e" type="internal" target="${target}"/>`)?.on;
    expect(internal("a")).toEqual([{ event: ["e"], target: ["#a"] }]);
    expect(internal("a1")).toEqual([{ event: ["e"], target: ["#a1"] }]);
    expect(internal("t")).toEqual([{ event: ["e"], target: ["#t"], reenter: true }]);
    expect(internal("s")).toEqual([{ event: ["e"], target: ["#s"], reenter: true }]);
    const atomic = stateOf('<state id="s"><transition event="e" type="internal" target="s"/></state>');
    expect(atomic?.on).toEqual([{ event: ["e"], target: ["#s"], reenter: true }]);
    const region = '<transition event="e" type="internal" target="a"/><state id="a"/>';
    expect(stateOf(`<parallel id="s">${region}</parallel>`)?.on).toEqual([
      { event: ["e"], target: ["#a"], reenter: true },
    ]);
  });

  test("a condition on a state of the document is a native guard, any other is the data model's", () => {
    const guards = inside(
      `<transition cond="In('a')" /><transition cond=' In( "t" ) '/><transition cond="In('nowhere')"/><transition cond="x &gt; 1"/>`,
    )?.always as readonly { guard: unknown }[];
    expect(guards.map(({ guard }) => guard)).toMatchObject([
      { in: "#a" },
      { in: "#t" },
      { scxml: "expression", text: "In('nowhere')" },
      { scxml: "expression", text: "x > 1", at: { tag: "transition", line: 1 } },
    ]);
  });

  test("the document itself may have transitions, as in earlier drafts", () => {
    expect(read('<state id="s"/><transition event="*" target="s"/>').on).toEqual([
      { event: ["*"], target: ["#s"], reenter: true },
    ]);
  });
});

describe("executable content", () => {
  test("what means the same is native", () => {
    expect(entryOf('<raise event="e"/><cancel sendid="x"/><log label="l"/><log expr=""/>')).toEqual([
      [
        { raise: "e" },
        { cancel: "x" },
        { log: { scxml: "constant", value: "" }, label: "l" },
        { log: { scxml: "constant", value: "" } },
      ],
    ]);
    expect(entryOf('<cancel sendidexpr="x"/><log expr="y"/>')).toMatchObject([
      [{ cancel: { scxml: "expression", text: "x" } }, { log: { scxml: "expression", text: "y" } }],
    ]);
  });

  test("<if> becomes a choice of branches", () => {
    const content =
      '<if cond="a"><raise event="1"/><elseif cond="b"/><raise event="2"/><else/><raise event="3"/></if>';
    expect(entryOf(content)).toMatchObject([
      [
        {
          choose: [
            { guard: { text: "a" }, actions: [{ raise: "1" }] },
            { guard: { text: "b" }, actions: [{ raise: "2" }] },
            { actions: [{ raise: "3" }] },
          ],
        },
      ],
    ]);
  });

  test("assignments, scripts and loops are the data model's, with their places", () => {
    const content =
      '<assign location=" x " expr="1"/><assign location="y"><a xmlns=""/></assign><assign location="z"/><script>f()</script><foreach array="l" item="i" index="n"><raise event="e"/></foreach>';
    expect(entryOf(content)).toMatchObject([
      [
        { model: { scxml: "assign", location: { text: "x" }, value: { text: "1" }, at: { tag: "assign" } } },
        { model: { scxml: "assign", value: { scxml: "xml", text: "<a/>" } } },
        { model: { scxml: "assign", value: { scxml: "constant", value: "" } } },
        { model: { scxml: "script", text: "f()" } },
        {
          model: { scxml: "foreach", array: { text: "l" }, item: "i", index: "n", actions: [{ raise: "e" }] },
        },
      ],
    ]);
    expect(entryOf('<foreach array="l" item="i"/>')).toMatchObject([[{ model: { actions: [] } }]]);
  });
});

describe("sending", () => {
  const sendOf = (attributes: string, inner = "") => {
    const [[action]] = entryOf(`<send ${attributes}>${inner}</send>`) as [[{ send: unknown }]];
    return action.send;
  };
  const http = "http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor";

  test.each([
    ['event="e"', { type: "e" }],
    [
      'event="e" target="#_internal" id="i" delay="1.5s"',
      { type: "e", to: "internal", id: "i", delay: 1500 },
    ],
    ['event="e" target="#_parent" type="scxml"', { type: "e", to: "parent" }],
    ['event="e" target="#_kid"', { type: "e", to: { scxml: "constant", value: { child: "kid" } } }],
    [
      `target="http://h/" type="${http}"`,
      { to: { scxml: "constant", value: { url: "http://h/" } }, via: http },
    ],
  ])("%s is known at once", (attributes, parts) => {
    expect(sendOf(attributes)).toEqual(parts);
  });

  test("what is computed is left to the data model", () => {
    expect(sendOf('eventexpr="e" targetexpr="t" typeexpr="y" delayexpr="d" idlocation="l"')).toMatchObject({
      type: { scxml: "expression", text: "e" },
      to: { scxml: "address", target: { text: "t" }, type: { text: "y" } },
      via: { scxml: "processor", type: { text: "y" } },
      delay: { scxml: "delay", value: { text: "d" } },
      idLocation: { scxml: "location", text: "l" },
    });
    expect(sendOf(`event="e" targetexpr="t" type="${http}"`)).toMatchObject({ via: http });
    expect(sendOf('event="e" targetexpr="t"')).not.toHaveProperty("via");
  });

  test("an illegal target or type is an error when it is reached, not before", () => {
    expect(sendOf('event="e" target="baz"')).toMatchObject({
      to: { scxml: "fault", reason: expect.stringContaining("baz") },
    });
    expect(sendOf('event="e" type="27"')).toMatchObject({
      to: { scxml: "fault", reason: expect.stringContaining("27") },
    });
  });

  test("names, parameters and content are its data", () => {
    expect(sendOf('event="e" namelist="a b"', '<param name="c" location="d"/>')).toMatchObject({
      data: {
        scxml: "params",
        lenient: false,
        params: [
          { name: "a", value: { text: "a" } },
          { name: "b", value: { text: "b" } },
          { name: "c", value: { text: "d" } },
        ],
      },
    });
  });

  test.each([
    ['<content expr="x"/>', { scxml: "expression", text: "x" }],
    ['<content>{"a": 1}</content>', { scxml: "constant", value: { a: 1 } }],
    ["<content> some\n  text </content>", { scxml: "constant", value: "some text" }],
    ['<content><a xmlns=""><b/></a></content>', { scxml: "xml", text: "<a><b/></a>" }],
    ["<content><![CDATA[<a/>]]></content>", { scxml: "xml", text: "<a/>" }],
    ["<content><![CDATA[<a>]]></content>", { scxml: "constant", value: "<a>" }],
    ["<content/>", { scxml: "constant", value: "" }],
  ])("%s is %j", (content, data) => {
    expect(sendOf('event="e"', content)).toMatchObject({ data });
  });
});

describe("data", () => {
  const load = (src: string) => ({ "n.json": "[1]", "s.js": "f()", "t.txt": " a\n b " })[src];
  const start = (body: string, attributes = "") => read(body, attributes, { load }).start;

  test("early data is bound at the start, in document order; only the document's own can be replaced", () => {
    const body =
      '<datamodel><data id="a" expr="1"/><data id="b"/></datamodel><state><datamodel><data id="c">x</data></datamodel></state>';
    expect(start(body)).toMatchObject({
      scxml: "start",
      name: "scxml",
      declared: ["a", "b", "c"],
      data: [
        { id: "a", value: { text: "1" }, replaceable: true },
        { id: "b", replaceable: true },
        { id: "c", value: { value: "x" }, replaceable: false },
      ],
    });
  });

  test("late data of a state stays with the state", () => {
    const body =
      '<datamodel><data id="a" expr="1"/></datamodel><state id="s"><datamodel><data id="b" expr="2"/></datamodel></state>';
    expect(start(body, 'binding="late"')).toMatchObject({ declared: ["a", "b"], data: [{ id: "a" }] });
    expect(read(body, 'binding="late"').states?.s?.data).toMatchObject({
      scxml: "bind",
      data: [{ id: "b" }],
    });
  });

  test("sources are loaded while importing, and data that cannot be is an error later", () => {
    const body =
      '<datamodel><data id="a" src="n.json"/><data id="b" src="t.txt"/><data id="c" src="no"/></datamodel><script src="s.js"/><script>g()</script><state/>';
    expect(start(body)).toMatchObject({
      data: [{ value: { value: [1] } }, { value: { value: "a b" } }, { value: { scxml: "fault" } }],
      scripts: [{ text: "f()" }, { text: "g()" }],
    });
  });
});

describe("invoking", () => {
  const child = '<scxml xmlns="http://www.w3.org/2005/07/scxml"><final id="f"/></scxml>';
  const invoked = (invoke: string, options: ScxmlOptions = {}) => {
    const machine = read(`<state id="s">${invoke}</state>`, 'name="m"', options);
    return { machine, invoke: [machine.states?.s?.invoke].flat()[0] };
  };

  test("a document written inside is imported with it, under a name of its own", () => {
    const { machine, invoke } = invoked(`<invoke>${`<content>${child}</content>`}</invoke>`);
    expect(invoke).toEqual({ machine: "m/s.1", id: "s.1" });
    expect(machine.machines["m/s.1"]).toMatchObject({ id: "m/s.1", states: { f: { type: "final" } } });
    const escaped = invoked(`<invoke id="i"><content><![CDATA[${child}]]></content></invoke>`);
    expect(Object.keys(escaped.machine.machines)).toEqual(["m/i"]);
  });

  test("a document elsewhere is loaded; one that cannot be is found by its address when it is needed", () => {
    const load = (src: string) => (src === "c.scxml" ? child : undefined);
    const twice = '<invoke src="c.scxml"/><invoke src="c.scxml"/>';
    const { machine, invoke } = invoked(twice, { load });
    expect(invoke).toEqual({ machine: "c.scxml", id: "s.1" });
    expect(Object.keys(machine.machines)).toEqual(["c.scxml"]);
    expect(invoked('<invoke src="no"/>', { load }).invoke).toMatchObject({
      machine: { scxml: "machine", name: { scxml: "constant", value: "no" } },
    });
  });

  test("a document that invokes itself does not import itself for ever", () => {
    const own = '<scxml><state id="s"><invoke src="own"/></state></scxml>';
    const { machines } = importScxml(own, { load: () => own, model: () => model });
    expect(machines.own?.machines).toEqual({});
    expect(machines.own?.states?.s?.invoke).toMatchObject([{ machine: { name: { value: "own" } } }]);
  });

  test("what is computed is left to the data model", () => {
    expect(invoked('<invoke srcexpr="x" typeexpr="t"/>').invoke).toMatchObject({
      machine: { scxml: "machine", name: { text: "x" }, type: { text: "t" } },
    });
    expect(invoked('<invoke><content expr="x"/></invoke>').invoke).toMatchObject({
      machine: { scxml: "machine", name: { text: "x" } },
    });
    expect(invoked(`<invoke typeexpr="t"><content>${child}</content></invoke>`).invoke).toMatchObject({
      machine: { scxml: "machine", name: { value: "m/s.1" }, type: { text: "t" } },
    });
    expect(invoked("<invoke><content><a/></content></invoke>").invoke).toMatchObject({
      machine: { scxml: "machine", name: { scxml: "xml" } },
    });
  });

  test("a type that is not SCXML is an error when it is reached", () => {
    expect(invoked('<invoke type="foo" src="x"/>').invoke).toMatchObject({ machine: { scxml: "fault" } });
  });

  test("id, place for the id, parameters, forwarding and finalize go with it", () => {
    const { invoke } = invoked(
      '<invoke src="x" idlocation="v" namelist="a" autoforward="true"><param name="p" expr="1"/><finalize><raise event="e"/></finalize></invoke>',
    );
    expect(invoke).toMatchObject({
      id: "s.1",
      idLocation: { scxml: "location", text: "v" },
      input: { params: [{ name: "a" }, { name: "p" }] },
      autoforward: true,
      finalize: [{ raise: "e" }],
    });
  });

  test("an empty finalize takes the parameters' places as its own", () => {
    const { invoke } = invoked(
      '<invoke src="x" namelist="a"><param name="p" location="q.r"/><param name="n" expr="1"/><finalize/></invoke>',
    );
    expect(invoke).toMatchObject({
      finalize: [
        {
          model: {
            scxml: "adopt",
            pairs: [
              { name: "a", location: { text: "a" } },
              { name: "p", location: { text: "q.r" } },
            ],
          },
        },
      ],
    });
  });
});

describe("data models", () => {
  test("the null model is built in, others come from the caller", () => {
    const asked: string[] = [];
    const ask = (name: string) => {
      asked.push(name);
      return undefined;
    };
    expect(read('<state id="s"/>', 'datamodel="null"', { model: ask }).model?.name).toBe("scxml-null");
    expect(() => read('<state id="s"/>', "", { model: ask })).toThrow('no data model "ecmascript"');
    expect(asked).toEqual(["null", "ecmascript"]);
    expect(() => importScxml("<scxml><state/></scxml>")).toThrow("no data model");
  });
});

describe("refusing", () => {
  const state = (inner: string) => `<state id="s">${inner}</state>`;
  test.each([
    ["<a/>", "<a> is not allowed in <scxml>"],
    ["", "no state to begin in"],
    [state("<donedata/>"), "<donedata> is not allowed in <state>"],
    ['<state id="s"/><state id="s"/>', "used twice"],
    ['<state id="a b"/>', "not an id"],
    ['<state id=" "/>', "not an id"],
    [state('<transition target="x"/>'), 'no state with the id "x"'],
    [state('<transition event="e" target=" "/>'), "names no target"],
    [state('<transition type="odd" target="s"/>'), "type of transition"],
    [state('<history id="h"/><state/>'), "needs a <transition>"],
    [state('<history type="odd"><transition target="a"/></history><state id="a"/>'), "type of history"],
    [state('<initial><transition event="e" target="a"/></initial><state id="a"/>'), "neither event nor cond"],
    [state('<initial><transition cond="e" target="a"/></initial><state id="a"/>'), "neither event nor cond"],
    [state("<initial><transition/></initial><state/>"), "needs the attribute target"],
    [
      '<state id="s" initial="a"><initial><transition target="a"/></initial><state id="a"/></state>',
      "both the attribute",
    ],
    [state("<datamodel/><datamodel/>"), "only one <datamodel>"],
    [state("<onentry><nonsense/></onentry>"), "not executable content"],
    [state('<onentry><v:x xmlns:v="urn:v"/></onentry>'), "not known as executable content"],
    [state('<onentry><if cond="a"><v:x xmlns:v="urn:v"/></if></onentry>'), "not known as executable content"],
    [state('<onentry><if cond="a"><else/><else/></if></onentry>'), "follows an <else>"],
    [state("<onentry><if/></onentry>"), "needs the attribute cond"],
    [state("<onentry><raise/></onentry>"), "needs the attribute event"],
    [state("<onentry><cancel/></onentry>"), "needs sendid or sendidexpr"],
    [state('<onentry><assign location="x" expr="1">2</assign></onentry>'), "both expr and content"],
    [state('<onentry><assign location="x">2<a/></assign></onentry>'), "mixed content"],
    [state('<onentry><assign location="x"><a/><b/></assign></onentry>'), "mixed content"],
    [state('<onentry><script src="gone"/></onentry>'), "could not be loaded"],
    [state('<onentry><send event="e" eventexpr="e"/></onentry>'), "exclude each other"],
    [state('<onentry><send event="e" delay="soon"/></onentry>'), "not a delay"],
    [state('<onentry><send event="e"><param name="p"/></send></onentry>'), "needs expr or location"],
    [
      state('<onentry><send event="e" namelist="a"><content>1</content></send></onentry>'),
      "both <content> and parameters",
    ],
    [
      state('<onentry><send event="e"><content expr="1">1</content></send></onentry>'),
      "both expr and content",
    ],
    ['<datamodel><data id="a" expr="1">2</data></datamodel><state/>', "more than one of"],
    ["<datamodel><data/></datamodel><state/>", "needs the attribute id"],
    [state("<invoke/>"), "needs src"],
    [state('<invoke src="a"><content>b</content></invoke>'), "both a source and <content>"],
  ])("%s", (body, reason) => {
    let error: HoldfastError | undefined;
    try {
      read(body);
    } catch (thrown) {
      error = thrown as HoldfastError;
    }
    expect(error?.code).toBe("SCXML_INVALID");
    expect(error?.message).toContain(reason);
    expect(error?.message).toMatch(/\(line \d+, column \d+\)/);
  });

  test.each([
    ["<html/>", "not an SCXML document"],
    ['<scxml xmlns="urn:other"/>', "not an SCXML document"],
    ['<scxml version="2.0"><state/></scxml>', "only 1.0"],
    ['<scxml binding="never"><state/></scxml>', "not a binding"],
  ])("%s", (text, reason) => {
    expect(() => importScxml(text, { model: () => model })).toThrow(reason);
  });
});
