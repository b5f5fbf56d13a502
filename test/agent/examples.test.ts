/** The examples of agents, each run as a process of its own with a scripted model through the interface of the AI SDK. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../project.ts";

function run(name: string): string {
  const command = ["--conditions=holdfast-source", `examples/agents/${name}.ts`];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

test("C4: a research agent searches and reads side by side, and its log says what it did", () => {
  const shown = run("research");
  expect(shown).toContain("Kelp holds by growing into the rock");
  expect(shown.split("What it did:\n")[1]?.trim().split("\n")).toHaveLength(4);
});

test("A6: a support agent pays back what a person agrees to, and nothing else", () => {
  const shown = run("support");
  expect(shown).toContain("you have your 30 euros back");
  expect(shown).toContain('carla is asked about refund {"euros":900}: no');
  expect(shown).toContain("I was not allowed to pay that back");
});

test("C8: three agents share a board: all facts are kept, one headline stands, and they vote on it", () => {
  const shown = run("team");
  expect(shown).toContain("Facts of all: nobody was hurt, the pumps work again, the tide was high");
  expect(shown).toMatch(/On the board: ".+", by (ann|ben|cleo); the others were told of the conflict/);
  expect(shown).toContain('"outcome":"decided","winner":"yes"');
});

test("C2: a conversation of 300 turns stays within a small window, and what was decided first is still known", () => {
  const shown = run("long-conversation");
  expect(Number(/never saw more than (\d+) letters/.exec(shown)?.[1])).toBeLessThan(8_000);
  expect(shown).toContain("agent: Your boat is called Lutra.");
});
