/**
 * A machine of two hundred states, generated and type-checked by the compiler in a process of its own: what is inferred
 * must not cost more than a person will wait for. The time is printed and bounded far above what it takes, since no
 * test is about time; docs/guide/authoring.md has the figure.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { root } from "../project.ts";

const groups = 10;
const perGroup = 19;
/** Only for a compiler that hangs. */
const msMax = 50_000;

/** A state that uses what there is to use: a guard, an update, an activity, a timer, and targets near and far. */
function stateText(group: number, index: number, target: string): string {
  const next = `s${(index + 1) % perGroup}`;
  const far = `group${(group + 1) % groups}.s${index}`;
  return `s${index}: {
    entry: { log: ({ context }) => context.count },
    on: {
      go: [
        { guard: ({ context, event }) => event.data.step > context.count, target: "${target}" },
        { guard: { type: "atMost", params: { max: ${index} } }, target: "${far}", update: "reset" },
      ],
      note: { update: (draft, { event }) => { draft.notes.push(event.data.text); } },
    },
    after: { "1 h": "${next}" },
    invoke: {
      activity: "work",
      input: ({ context }) => ({ count: context.count }),
      onDone: { target: "#end", update: (draft, { event }) => { draft.count = event.data.result; } },
      onError: { actions: [{ raise: { type: "note", data: { text: "failed" } } }] },
    },
  },`;
}

/** The module, with one transition that leads to `target`. */
function moduleText(target: string): string {
  const states = Array.from({ length: groups }, (_, group) => {
    const inside = Array.from({ length: perGroup }, (_unused, index) =>
      stateText(group, index, group === groups - 1 && index === perGroup - 1 ? target : "s0"),
    );
    return `group${group}: { initial: "s0", on: { stop: "done" }, states: {\n${inside.join("\n")}\n} },`;
  });
  return `import { defineMachine } from "holdfast";
import { z } from "zod";
export const large = defineMachine({
  id: "large",
  context: z.object({ count: z.number(), notes: z.array(z.string()) }),
  events: { go: z.object({ step: z.number() }), note: z.object({ text: z.string() }), stop: z.object({}) },
  activities: { work: { input: z.object({ count: z.number() }), output: z.object({ result: z.number() }) } },
  guards: { atMost: ({ context }, { max }: { max: number }) => context.count <= max },
  updates: { reset: (draft) => { draft.count = 0; } },
  start: { count: 0, notes: [] },
  initial: "group0",
  states: {\n${states.join("\n")}\n    done: { type: "final", id: "end", output: ({ context }) => context.notes },\n  },
});
`;
}

function compile(code: string): {
  readonly status: number | null;
  readonly output: string;
  readonly ms: number;
} {
  mkdirSync(join(root, "coverage"), { recursive: true });
  const folder = mkdtempSync(join(root, "coverage", "large-"));
  try {
    writeFileSync(join(folder, "large.ts"), code);
    const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const began = performance.now();
    const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], {
      encoding: "utf8",
      timeout: msMax,
    });
    return { status, output: stdout, ms: Math.round(performance.now() - began) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a machine of 200 states type-checks, and one wrong target among them does not", () => {
  const good = compile(moduleText("s0"));
  console.info(`200 states type-checked in ${good.ms} ms`);
  expect(good).toMatchObject({ status: 0, output: "" });
  const bad = compile(moduleText("s00"));
  expect(bad.status).not.toBe(0);
  expect(bad.output).toContain('"s00"');
});
