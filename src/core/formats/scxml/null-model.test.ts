/** The null data model: constants and In(), and an error event for everything else. */
import { expect, test } from "vitest";
import type { ModelScope } from "../../data-model.ts";
import { defineMachine } from "../../machine.ts";
import { simulate } from "../../simulate.ts";
import { importScxml } from "./import.ts";
import { nullModel } from "./null-model.ts";

const run = (body: string) =>
  simulate(defineMachine(importScxml(`<scxml datamodel="null" initial="p">${body}</scxml>`)));

test("In() tells states apart, also those that do not exist", () => {
  const { state } = run(
    `<parallel id="p"><state id="a"><transition cond="In('nowhere')" target="f"/><transition cond="In('b')" target="t"/></state><state id="b"/></parallel><state id="f"/><state id="t"/>`,
  );
  expect(state.configuration).toEqual(["t"]);
  expect(state.context).toEqual({});
});

test.each([
  ["a condition on data", '<transition cond="x"/>', ""],
  ["an assignment", "", '<assign location="x" expr="1"/>'],
  ["an expression", "", '<log expr="x"/>'],
  ["a script", "", "<script>x</script>"],
  ["a place for an id", "", '<send event="e" idlocation="x"/>'],
  ["an illegal target", "", '<send event="e" target="baz"/>'],
])("%s is an error event", (_, transition, content) => {
  const { state, last } = run(
    `<state id="p"><onentry>${content}</onentry>${transition}<transition event="error.execution" target="e"/></state><state id="e"/>`,
  );
  expect(state.configuration).toEqual(["e"]);
  expect(last.errors).toHaveLength(1);
});

test("constants, XML and labels need no data", () => {
  const { state, logs } = run(
    '<state id="p"><onentry><log label="x"/><send event="e"><content><a/></content></send></onentry><transition event="e" target="t"/></state><state id="t"/>',
  );
  expect(state.configuration).toEqual(["t"]);
  expect(logs).toMatchObject([{ label: "x", data: "" }]);
});

test("nothing of it can be updated, and no other source is a condition", () => {
  const scope = {} as ModelScope;
  expect(() => nullModel.update({}, "")(scope)).toThrow("no data");
  expect(() => nullModel.condition({ in: "x" }, "")(scope)).toThrow("no data");
  expect(nullModel.value("plain", "")(scope)).toBe("plain");
});

test("late data is an error event too", () => {
  const machine = importScxml(
    '<scxml datamodel="null" binding="late"><state id="p"><datamodel><data id="x"/></datamodel><transition event="error" target="e"/></state><state id="e"/></scxml>',
  );
  expect(simulate(defineMachine(machine)).state.configuration).toEqual(["e"]);
});
