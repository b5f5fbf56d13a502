/** Documents as machines, from text to steps: data, events, children, XML, errors, and the engine's own breakdowns. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Machine } from "../core/machine.ts";
import { type Simulation, simulate } from "../core/simulate.ts";
import { start, step } from "../core/step.ts";
import { loadEcmascript, loadScxml, type Scxml, type ScxmlOptions } from "./index.ts";

let scxml: Scxml;
beforeAll(async () => {
  scxml = await loadScxml();
});

const machineOf = (body: string, attributes = "", options: ScxmlOptions = {}): Machine =>
  scxml(
    `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" ${attributes}>${body}</scxml>`,
    options,
  );
const run = (body: string, attributes = "", options: ScxmlOptions = {}): Simulation =>
  simulate(machineOf(body, attributes, options), {
    restore: true,
    machines: (name) => scxml.machine(name, options),
  });
const logged = ({ logs }: Simulation) => logs.map(({ data }) => data);

describe("a document runs", () => {
  test("with variables that can be read in the state", () => {
    const machine = machineOf(
      '<datamodel><data id="n" expr="1"/></datamodel><state id="a"><transition event="add" target="a"><assign location="n" expr="n + _event.data.by"/></transition></state>',
    );
    const first = start(machine, undefined, { at: 0 });
    expect(first.state.context).toEqual({ n: 1 });
    const second = step(machine, first.state, { type: "add", data: { by: 4 } }, { at: 1 });
    expect(second.state.context).toEqual({ n: 5 });
  });

  test("without a sandbox where nothing is evaluated: the context stays the same object", () => {
    const machine = machineOf('<state id="a"><transition event="e" target="b"/></state><state id="b"/>');
    const { state } = start(machine, undefined, { at: 0 });
    expect(step(machine, state, { type: "e" }, { at: 0 }).state.context).toBe(state.context);
  });

  test("with the input in place of the document's own data, and of nothing else", () => {
    const machine = machineOf(
      '<datamodel><data id="a" expr="1"/><data id="b" expr="2"/></datamodel><state id="s"><datamodel><data id="c" expr="3"/></datamodel></state>',
    );
    const { context } = start(machine, { a: 10, c: 30, d: 40 }, { at: 0 }).state;
    expect(context).toEqual({ a: 10, b: 2, c: 3 });
    expect(start(machine, "text", { at: 0 }).state.context).toEqual({ a: 1, b: 2, c: 3 });
  });

  test("with late data bound once, when its state is first entered", () => {
    const simulation = run(
      '<state id="s"><transition event="e" target="t"/></state><state id="t"><datamodel><data id="x" expr="1"/></datamodel><onentry><assign location="x" expr="x + 1"/></onentry><transition event="e" target="s"/></state>',
      'binding="late"',
    );
    expect(simulation.state.context).toMatchObject({ x: null, "#": { kinds: { "/x": "undefined" } } });
    for (const expected of [2, 2, 3]) {
      simulation.send("e");
      expect(simulation.state.context).toMatchObject({ x: expected });
    }
  });

  test("with scripts whose functions are there in every step", () => {
    const simulation = run(
      '<datamodel><data id="n" expr="2"/><data id="half" expr="function (x) { return x / 2; }"/></datamodel><script>function twice(x) { return x * 2; } n = 3;</script><state id="s"><transition event="e"><log expr="[twice(n), half(n)]"/></transition></state>',
    );
    simulation.send("e");
    simulation.send("e");
    expect(logged(simulation)).toEqual([
      [6, 1.5],
      [6, 1.5],
    ]);
  });
});

describe("XML", () => {
  const books = '<books xmlns=""><book title="one"/><book title="two">text &amp; more</book></books>';

  test("is a document in data and events, and text in the state", () => {
    const simulation = run(
      `<datamodel><data id="v">${books}</data><data id="e" expr="v.documentElement"/></datamodel><state id="s"><onentry><send event="x"><content>${books}</content></send></onentry><transition event="x"><log expr="_event.data.getElementsByTagName('book').length"/></transition><transition event="q"><log expr="[v.getElementsByTagName('book')[1].textContent, e.children[0].getAttribute('title')]"/></transition></state>`,
    );
    simulation.send("q");
    expect(logged(simulation)).toEqual([2, ["text & more", "one"]]);
    const text = books.replace(' xmlns=""', "");
    expect(simulation.state.context).toMatchObject({
      v: text,
      "#": { kinds: { "/v": "xml", "/e": "element" } },
    });
  });

  test("can be changed, and leaves as text", () => {
    const simulation = run(
      `<datamodel><data id="v"><a xmlns="urn:a" xmlns:p="urn:p" p:q="1"><b/>t</a></data></datamodel><state id="s"><transition event="e"><script>
        var root = v.documentElement;
        root.setAttribute("n", 1);
        root.removeAttribute("p:q");
        root.removeChild(root.firstChild);
        root.insertBefore(v.createElement("c"), root.lastChild).textContent = "x";
        root.appendChild(v.createTextNode("!"));
      </script><log expr="v"/><log expr="[root.nodeName, root.nodeType, root.hasAttribute('n'), root.lastChild.previousSibling.nodeValue, root.firstChild.nextSibling.nodeName, root.hasChildNodes(), v.getElementById('none'), root.nodeValue, v.nodeName, v.nodeType, root.firstElementChild.toString(), root.lastChild.nodeType, String(root.lastChild)]"/></transition></state>`,
    );
    simulation.send("e");
    expect(logged(simulation)).toEqual([
      '<a xmlns="urn:a" n="1"><c xmlns="">x</c>t!</a>',
      ["a", 1, true, "t", "#text", true, null, null, "#document", 9, "<c>x</c>", 3, "!"],
    ]);
  });

  test("refuses to become a circle or to lose what is not there", () => {
    const simulation = run(
      '<datamodel><data id="v"><a id="i"><b/></a></data></datamodel><state id="s"><transition event="e"><script>v.getElementById("i").firstChild.appendChild(v.documentElement)</script></transition><transition event="f"><script>v.documentElement.removeChild(v)</script></transition><transition event="g"><script>v.documentElement.insertBefore(v.createElement("c"), v)</script></transition></state>',
    );
    for (const event of ["e", "f", "g"]) expect(simulation.send(event).errors).toHaveLength(1);
  });
});

describe("children", () => {
  const child =
    '<scxml><datamodel><data id="x" expr="0"/></datamodel><final id="f"><donedata><param name="got" expr="x"/></donedata></final></scxml>';
  const parent = (invoke: string) =>
    run(
      `<datamodel><data id="doc"/><data id="n" expr="7"/></datamodel><state id="s"><onentry><assign location="doc">${child}</assign></onentry>${invoke}<transition event="done.invoke" target="t"><log expr="_event.data.got"/></transition><transition event="error" target="u"><log expr="_event.name"/></transition></state><state id="t"/><state id="u"/>`,
      "",
      { load: (src) => (src === "child.scxml" ? child : undefined) },
    );

  test.each([
    [
      "written inside",
      `<invoke namelist="n"><param name="x" location="n"/><content>${child}</content></invoke>`,
    ],
    ["standing elsewhere", '<invoke src="child.scxml"><param name="x" expr="n"/></invoke>'],
    ["whose address is computed", `<invoke srcexpr="'child' + '.scxml'"><param name="x" expr="n"/></invoke>`],
    ["whose text is a value", '<invoke><param name="x" expr="n"/><content expr="doc"/></invoke>'],
  ])("%s get their input and give their output", (_, invoke) => {
    expect(logged(parent(invoke))).toEqual([7]);
  });

  test.each([
    ["that are nowhere", '<invoke src="gone.scxml"/>', "error.invoke.s.1"],
    ["that are no documents", "<invoke><content>nonsense</content></invoke>", "error.invoke.s.1"],
    ["of another kind", `<invoke typeexpr="'foo'" src="child.scxml"/>`, "error.execution"],
    ["of another kind, said outright", '<invoke type="foo" src="child.scxml"/>', "error.execution"],
    ["whose name is no text", '<invoke srcexpr="n"/>', "error.execution"],
    ["whose input fails", '<invoke src="child.scxml" namelist="missing"/>', "error.execution"],
  ])("%s are an error event", (_, invoke, event) => {
    expect(logged(parent(invoke))).toEqual([event]);
  });

  test("an empty finalize takes what the child sends back, and nothing else", () => {
    const sending =
      '<scxml><state id="c"><onentry><send target="#_parent" event="news"><param name="n" expr="8"/><param name="m" expr="9"/></send><send target="#_parent" event="text"><content>none</content></send></onentry></state></scxml>';
    const { state } = run(
      `<datamodel><data id="n" expr="7"/><data id="m" expr="1"/></datamodel><state id="s"><invoke namelist="n"><content>${sending}</content><finalize/></invoke></state>`,
    );
    expect(state.context).toMatchObject({ n: 8, m: 1 });
  });
});

describe("sending", () => {
  const errors = (send: string) =>
    run(
      `<datamodel><data id="x" expr="5"/></datamodel><state id="s"><onentry>${send}</onentry></state>`,
    ).last.errors.map(({ type, data }) => [type, (data as { reason?: string }).reason]);

  test.each([
    [`<send event="e" targetexpr="'baz'"/>`, "The send target baz is not legal"],
    [`<send event="e" typeexpr="'27'"/>`, "The send type 27 is not supported"],
    ['<send event="e" targetexpr="x"/>', "5 is not text"],
    [`<send event="e" delayexpr="'soon'"/>`, '"soon" is not a delay'],
    ['<send event="e" delayexpr="-1"/>', "-1 is not a delay"],
    ['<send event="e" namelist="y"/>', "ReferenceError: 'y' is not defined"],
  ])("%s fails when it is reached", (send, reason) => {
    expect(errors(send)).toEqual([["error.execution", reason]]);
  });

  test("a delay may be milliseconds", () => {
    const simulation = run(
      '<state id="s"><onentry><send event="e" delayexpr="20"/></onentry><transition event="e" target="t"/></state><state id="t"/>',
    );
    simulation.advance(19);
    expect(simulation.state.configuration).toEqual(["s"]);
    simulation.advance(1);
    expect(simulation.state.configuration).toEqual(["t"]);
  });
});

describe("executable content", () => {
  test("loops run their actions, and stop with the first that fails", () => {
    const simulation = run(
      '<datamodel><data id="l" expr="[1, 2, 3]"/><data id="sum" expr="0"/></datamodel><state id="s"><onentry><foreach array="l" item="i" index="n"><assign location="sum" expr="sum + i"/><if cond="n == 1"><assign location="none" expr="1"/></if></foreach><raise event="never"/></onentry></state>',
    );
    expect(simulation.state.context).toMatchObject({ sum: 3, i: 2, n: 1 });
    expect(simulation.last.errors).toHaveLength(1);
  });

  test("the id of a send is stored where the document wants it", () => {
    const simulation = run(
      '<datamodel><data id="id"/></datamodel><state id="s"><onentry><send event="e" delay="1s" idlocation="id"/><cancel sendidexpr="id"/></onentry></state>',
    );
    expect(simulation.state.context).toEqual({ id: expect.any(String) });
    expect(simulation.state.timers).toEqual([]);
  });

  test("a value of donedata that fails is left out, and its error told", () => {
    const { state, last } = run(
      '<final id="f"><donedata><param name="a" expr="1"/><param name="b" expr="none"/><param name="c" location="undefined"/></donedata></final>',
    );
    expect(state.output).toEqual({ a: 1 });
    expect(last.errors).toHaveLength(1);
  });

  test("data whose value fails is there without one, and the rest goes on", () => {
    const { state, last } = run(
      '<datamodel><data id="a" expr="return"/><data id="_event" expr="1"/><data id="b" expr="2"/></datamodel><script>throw 1</script><state id="s"/>',
    );
    expect(state.context).toMatchObject({ a: null, b: 2 });
    expect(last.errors).toHaveLength(3);
  });
});

describe("when things go wrong", () => {
  test("an error is an event that names the element, its place and the reason", () => {
    const { last } = run('<state id="s"><onentry>\n  <log expr="nothing.here"/></onentry></state>');
    expect(last.errors).toMatchObject([
      {
        type: "error.execution",
        data: { tagname: "log", line: 2, column: 3, reason: expect.stringContaining("nothing") },
      },
    ]);
  });

  test("a variable that cannot be kept refuses the step", () => {
    const simulation = run(
      '<state id="s"><transition event="e"><script>x = Symbol()</script></transition></state>',
    );
    const { outcome, error } = simulation.send("e");
    expect([outcome, error?.code]).toEqual(["refused", "NOT_JSON"]);
    expect(simulation.state.context).toEqual({});
  });

  test("a context that cannot be brought back refuses the step", () => {
    const machine = machineOf('<state id="s"><transition event="e" cond="true"/></state>');
    const { state } = start(machine, undefined, { at: 0 });
    const odd = { ...state, context: { x: {}, "#": { kinds: { "/x": "instance Gone" } } } };
    const { outcome, error } = step(machine, odd, { type: "e" }, { at: 0 });
    expect([outcome, error?.code]).toEqual(["refused", "STATE_INVALID"]);
    expect(error?.message).toContain("class Gone");
  });

  test("code that breaks its sandbox loses its own step, and the next one runs as if nothing had been", () => {
    const machine = machineOf(
      `<datamodel><data id="n" expr="1"/></datamodel><state id="s"><transition event="break"><script>eval("(".repeat(100000))</script></transition><transition event="e"><assign location="n" expr="n + 1"/></transition></state>`,
    );
    const { state } = start(machine, undefined, { at: 0 });
    const broken = step(machine, state, { type: "break" }, { at: 0 });
    expect([broken.outcome, broken.error?.code]).toEqual(["refused", "STEP_UNBOUNDED"]);
    expect(broken.state).toBe(state);
    expect(step(machine, state, { type: "e" }, { at: 0 }).state.context).toEqual({ n: 2 });
  });

  test("two breakdowns in a row refuse what comes before the engine is loaded anew", async () => {
    const fragile = await loadScxml();
    const machine = fragile(
      `<scxml><state id="s"><transition event="break"><script>eval("(".repeat(100000))</script></transition><transition event="e" cond="1 + 1 == 2" target="t"/></state><state id="t"/></scxml>`,
    );
    const { state } = start(machine, undefined, { at: 0 });
    for (const _ of [1, 2])
      expect(step(machine, state, { type: "break" }, { at: 0 }).outcome).toBe("refused");
    const early = step(machine, state, { type: "e" }, { at: 0 });
    expect([early.error?.code, early.error?.retry]).toEqual(["SANDBOX_UNAVAILABLE", "later"]);
    await expect
      .poll(() => step(machine, state, { type: "e" }, { at: 0 }).state.configuration)
      .toEqual(["t"]);
  });

  test("a clock, where there is one, is a second bound", async () => {
    let now = 0;
    const timed = await loadScxml({ now: () => (now += 6_000) });
    const machine = timed(
      '<scxml><state id="s"><transition event="e"><script>for (var i = 0; i &lt; 1e6; i++);</script></transition></state></scxml>',
    );
    const { state } = start(machine, undefined, { at: 0 });
    expect(step(machine, state, { type: "e" }, { at: 0 }).errors).toMatchObject([
      { data: { reason: expect.stringContaining("interrupted") } },
    ]);
  });

  test("documents are refused before they run, with their place", () => {
    expect(() => machineOf("<nonsense/>")).toThrow("line 1, column");
    expect(() => scxml('<scxml datamodel="xpath"><state/></scxml>')).toThrow('no data model "xpath"');
  });

  test("a data model of the caller's own comes first, and updates are not of SCXML", async () => {
    const own = (await loadEcmascript())();
    expect(scxml("<scxml><state/></scxml>", { model: () => own }).chart.model).toBe(own);
    expect(() => own.update({}, "on.e")).toThrow("on.e: SCXML has no updates");
  });
});
