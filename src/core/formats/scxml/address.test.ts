/** Targets and processors of `<send>`, and delays: small languages with right and wrong words. */
import { expect, test } from "vitest";
import {
  addressOf,
  httpProcessor,
  invokesScxml,
  processorOf,
  scxmlProcessor,
  sessionTarget,
} from "./address.ts";
import { delayMs } from "./delay.ts";

test.each([
  [undefined, "self"],
  ["#_internal", "internal"],
  ["#_parent", "parent"],
  ["#_child", { child: "child" }],
  [sessionTarget("run/1"), { run: "run/1" }],
  ["baz", undefined],
  ["#baz", undefined],
  ["http://example.org/", undefined],
])("SCXML's own processor takes %j for %j", (target, address) => {
  expect(addressOf(target, scxmlProcessor)).toEqual(address);
});

test.each([
  ["http://example.org/a", { url: "http://example.org/a" }],
  ["https://example.org", { url: "https://example.org" }],
  ["file:///etc/passwd", undefined],
  ["#_parent", undefined],
  ["http://", undefined],
  [undefined, { url: "" }],
])("the HTTP processor takes %j for %j", (target, address) => {
  expect(addressOf(target, httpProcessor)).toEqual(address);
});

test("types name processors, by address or in short", () => {
  expect([undefined, "scxml", scxmlProcessor].map(processorOf)).toEqual(Array(3).fill(scxmlProcessor));
  expect(["basichttp", httpProcessor].map(processorOf)).toEqual(Array(2).fill(httpProcessor));
  expect(processorOf("27")).toBeUndefined();
});

test("only SCXML can be invoked", () => {
  const known = [undefined, "scxml", "http://www.w3.org/TR/scxml/", "http://www.w3.org/TR/scxml"];
  expect(known.every(invokesScxml)).toBe(true);
  expect(["foo", "http://www.w3.org/TR/ccxml/"].some(invokesScxml)).toBe(false);
});

test.each([
  ["1s", 1000],
  [".5s", 500],
  ["1.5s", 1500],
  ["+2S", 2000],
  [" 10ms ", 10],
  ["0s", 0],
  ["10", undefined],
  ["-1s", undefined],
  ["1 min", undefined],
  ["", undefined],
])("the delay %j is %j", (text, ms) => {
  expect(delayMs(text)).toBe(ms);
});
