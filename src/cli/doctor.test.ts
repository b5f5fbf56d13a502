/** How findings are shown, to people and to those who see no colours. */
import { expect, test } from "vitest";
import { findingLine } from "./doctor.ts";
import { describe, terminalOf } from "./terminal.ts";

test("a finding is one line, with what to do after an arrow", () => {
  const found = { check: "fsync", status: "bad", found: "off", remedy: "turn it on" } as const;
  expect(findingLine(found, false)).toBe("✗ fsync: off → turn it on");
  expect(findingLine(found, true)).toBe("\u001b[31m✗\u001b[0m fsync: off → turn it on");
  expect(findingLine({ check: "a", status: "good", found: "of\ntwo lines" }, false)).toBe(
    "✓ a: of two lines",
  );
});

test("colours are only for a terminal, and never against NO_COLOR", () => {
  const wasTerminal = process.stdout.isTTY;
  try {
    process.stdout.isTTY = true;
    expect(terminalOf({}).isColoured).toBe(true);
    expect(terminalOf({ NO_COLOR: "" }).isColoured).toBe(true);
    expect(terminalOf({ NO_COLOR: "1" }).isColoured).toBe(false);
    process.stdout.isTTY = false;
    expect(terminalOf({}).isColoured).toBe(false);
  } finally {
    process.stdout.isTTY = wasTerminal;
  }
});

test("an error is told with its code and what was behind it", () => {
  const error = Object.assign(new Error("It broke", { cause: new Error("no disk") }), {
    code: "STORE_BROKEN",
  });
  expect(describe(error)).toBe("STORE_BROKEN: It broke (no disk)");
  expect(describe("text")).toBe("text");
});
