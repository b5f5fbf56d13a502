/** What `npm run start:simulated` shows, run as a process of its own, and the drawing it is made of. */
import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { showTime } from "../examples/describe.ts";
import { beside, colours, drawChart, plain, widthOf, wrap } from "../examples/draw.ts";
import { root } from "./project.ts";

function run(): { status: number | null; frames: string[]; stderr: string } {
  const command = ["--conditions=holdfast-source", "examples/simulated.ts"];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  return { status, stderr, frames: stdout.split(/\n\n(?=╭|The agent)/) };
}

describe("npm run start:simulated", () => {
  const { status, frames, stderr } = run();
  const frame = (text: string): string =>
    frames.find((one) => one.includes(text)) ?? `no frame says “${text}”`;

  test("ends by itself, without a complaint, when the agent is done", () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(frames.at(-1)).toMatch(/^The agent is done after \d+ steps and 2 d of virtual time/);
  });

  test("is plain text where there is no terminal", () => {
    expect(frames.join("")).toBe(stripVTControlCharacters(frames.join("")));
  });

  test("draws the whole chart in every frame, with what is active marked", () => {
    for (const one of frames.slice(0, -1)) {
      for (const key of ["working", "gathering ∥", "search", "reading", "paused", "published"])
        expect(one).toContain(` ${key}`);
    }
    expect(frame("▸ start")).toContain("● planning");
    expect(frame("▸ plan answers")).toMatch(/● searching.+● opening/);
  });

  test("shows impossible events refused, with the reason and what is possible", () => {
    const refusal = frame('▸ approve {"by":"ada"}');
    for (const part of ["refused, nothing changed", "EVENT_UNHANDLED", "planning", "possible  pause"])
      expect(refusal).toContain(part);
    expect(frame("the guard says no")).toContain("refused, nothing changed");
    expect(frame("What is done stays done")).toContain("RUN_ENDED");
  });

  test("shows changes, effects and what the agent waits for", () => {
    const planned = frame("▸ plan answers");
    for (const part of [
      'changed   plan += ["grip","storms"]',
      "effects   call search; call read",
      "waits for search, read",
      "possible  pause",
    ])
      expect(planned).toContain(part);
    expect(frame("▸ revise")).toContain("cancel timer");
    expect(frame("▸ 1 day later")).toContain("nothing was due");
  });

  test("shows a cancelled call's late answer ignored, and history bringing the agent back", () => {
    expect(frame("search answers, late")).toContain("ignored, nothing changed");
    expect(frame("▸ resume")).toMatch(/● searching.+○ opening/);
    expect(frame("▸ resume")).toContain("◉ read");
  });

  test("shows what was done undone when nobody answers", () => {
    expect(frame("Nobody answers for another day")).toContain("◉ withdrawn");
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

  test("a stretch of time is told in its two largest units", () => {
    expect([3, 999, 1_000, 1_550, 61_000, 3_600_000, 93_784_000].map(showTime)).toEqual([
      "3 ms",
      "999 ms",
      "1 s",
      "1.6 s",
      "1 min 1 s",
      "1 h",
      "1 d 2 h",
    ]);
  });
});
