/** What `npm start` shows, run as a process of its own, and the drawing it is made of. */
import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { beside, colours, drawChart, plain, widthOf, wrap } from "../examples/draw.ts";
import { root } from "./project.ts";

function run(): { status: number | null; frames: string[]; stderr: string } {
  const command = ["--conditions=source", "examples/start.ts", "--fast"];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  return { status, stderr, frames: stdout.split(/\n\n(?=╭|The agent)/) };
}

describe("npm start", () => {
  const { status, frames, stderr } = run();
  const frame = (text: string): string =>
    frames.find((one) => one.includes(text)) ?? `no frame says “${text}”`;

  test("ends by itself, without a complaint, when the agent is done", () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(frames.at(-1)).toMatch(/^The agent is done after \d+ steps/);
  });

  test("is plain text where there is no terminal", () => {
    expect(frames.join("")).toBe(stripVTControlCharacters(frames.join("")));
  });

  test("draws the whole chart in every frame, with what is active marked", () => {
    for (const one of frames.slice(0, -1)) {
      for (const key of ["idle", "working", "executing ∥", "search", "reading", "paused", "done"])
        expect(one).toContain(` ${key}`);
    }
    expect(frame("▸ start")).toContain("● idle");
    expect(frame("▸ plan answers")).toMatch(/● calling.+● opening/);
  });

  test("shows impossible events refused, with the reason and what is possible", () => {
    const refusal = frame('▸ approve {"by":"ada"}');
    for (const part of ["refused, nothing changed", "EVENT_UNHANDLED", "idle", "possible  ask"])
      expect(refusal).toContain(part);
    expect(frame("the guard says no")).toContain("refused, nothing changed");
    expect(frame('{"tokens":900}')).toContain("INVARIANT_VIOLATED");
    expect(frame("What is done stays done")).toContain("RUN_ENDED");
  });

  test("shows changes, effects and what the agent waits for", () => {
    const asked = frame("▸ ask");
    for (const part of [
      'changed   question = "Do',
      "effects   call plan",
      "waits for plan",
      "possible  pause",
    ])
      expect(asked).toContain(part);
    expect(frame("▸ 30s later")).toContain("cancel activity search; wake at 35 s");
    expect(frame("▸ 1 day later")).toContain("nothing was due");
  });

  test("shows a cancelled call's late answer ignored, and history bringing the agent back", () => {
    expect(frame("search answers, late")).toContain("ignored, nothing changed");
    expect(frame("▸ resume")).toMatch(/● calling.+○ opening/);
    expect(frame("▸ resume")).toContain("◉ read");
  });
});

describe("drawing", () => {
  const chart = {
    states: {
      off: {},
      on: {
        type: "parallel",
        states: { left: { states: { a: {} } }, right: { states: { b: { type: "final" } } } },
      },
      was: { type: "history", history: "deep" },
    },
  } as const;

  test("a compound state is a box, regions stand side by side, active states are marked", () => {
    expect(drawChart("lamp", chart, ["on.left.a", "on.right.b"], plain)).toEqual([
      "╭ lamp ────────────────────────╮",
      "│ ○ off                        │",
      "│ ╭ ● on ∥ ──────────────────╮ │",
      "│ │ ╭ ● left ─╮ ╭ ● right ─╮ │ │",
      "│ │ │ ● a     │ │ ◉ b      │ │ │",
      "│ │ ╰─────────╯ ╰──────────╯ │ │",
      "│ ╰──────────────────────────╯ │",
      "│ H* was                       │",
      "╰──────────────────────────────╯",
    ]);
  });

  test("colour changes no width", () => {
    const drawn = drawChart("lamp", chart, ["off"], colours);
    expect(drawn.map(stripVTControlCharacters)).toEqual(drawChart("lamp", chart, ["off"], plain));
    expect(new Set(drawn.map(widthOf)).size).toBe(1);
  });

  test("text is wrapped at spaces, and blocks of unequal height stand beside each other", () => {
    expect(wrap("one two three", 8)).toEqual(["one two", "  three"]);
    expect(wrap("unbreakable", 4)).toEqual(["unbreakable"]);
    expect(beside(["a", "bcd"], ["x"])).toEqual(["a   x", "bcd"]);
  });
});
