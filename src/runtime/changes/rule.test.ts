import { expect, test } from "vitest";
import { type ChangeRule, changeOf, checkRule } from "./rule.ts";

const send = { run: () => "a", type: "note" };
const good = { table: "orders", on: ["insert"], send } as ChangeRule;

test("a rule that can be meant is taken as it is", () => {
  expect(checkRule("order", { ...good, when: "true" }, true)).toEqual({
    ...{ name: "order", table: "orders", on: ["insert"], when: "true", columns: undefined, notify: true },
  });
});

test.each([
  ["names no table", { table: "" }],
  ["says not on what", { on: [] }],
  ["says not on what", { on: ["upsert"] }],
  ["has an empty condition", { when: " " }],
  ["has an empty list of columns", { on: ["update"], columns: [] }],
  ["names columns, which are for updates", { columns: ["status"] }],
  ["must either send or start", { send: undefined }],
  ["must either send or start", { start: { machine: undefined } }],
])("a rule that %s is refused", (problem, part) => {
  const rule = { ...good, ...part } as unknown as ChangeRule;
  expect(() => checkRule("order", rule, true)).toThrow(
    expect.objectContaining({ code: "RULE_INVALID", message: expect.stringContaining(problem) }),
  );
});

test("a rule needs a name that can be kept", () => {
  expect(() => checkRule("", good, true)).toThrow(expect.objectContaining({ code: "NAME_INVALID" }));
  expect(() => checkRule("a\0b", good, true)).toThrow(expect.objectContaining({ code: "NAME_INVALID" }));
});

test("a number that comes back with another time is another change", () => {
  const noted = {
    number: 1,
    rule: "order",
    operation: "insert",
    atMicros: 5_000,
    old: null,
    new: {},
  } as const;
  const { key, at } = changeOf(noted, "orders");
  expect(changeOf(noted, "orders").key).toBe(key);
  expect(changeOf({ ...noted, atMicros: 5_001 }, "orders").key).not.toBe(key);
  expect(at).toBe(5);
});
