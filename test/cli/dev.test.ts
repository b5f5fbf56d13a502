/** `holdfast dev` while files are written beside the machines: only what they were loaded from makes it load them anew. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { root } from "../project.ts";
import { holdfast } from "./process.ts";
import { stillWorld } from "./read-command.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-dev-"));
afterAll(() => rmSync(folder, { recursive: true }));

const machines = `
import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineMachine } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
import fees from "./fees.json" with { type: "json" };
const machine = defineMachine({
  id: "writer", start: () => ({}), initial: "writing",
  states: { writing: { invoke: { activity: "write", onDone: "done" } }, done: { type: "final", output: () => fees.fee } },
});
export default [{ machine, activities: { write: async () => {
  appendFileSync("calls.txt", "x");
  for (const name of ["note.json", "note.yaml", "note.js"]) writeFileSync(name, String(Math.random()));
  // Long enough for a change to be noticed.
  await sleep(500);
} } }];
`;

test("G5: an activity that writes files beside the machines ends, and only a file they were loaded from loads them anew", async () => {
  writeFileSync(join(folder, "fees.json"), '{"fee":1}');
  writeFileSync(join(folder, "machines.ts"), machines);
  const dev = holdfast(["dev", "--port", "0", "--no-open"], {}, folder);
  const tell = async (...argv: string[]) => {
    const { world, said } = stillWorld();
    const stop = new AbortController().signal;
    expect([await execute(argv, { ...world, cwd: folder, stop }), said.err]).toEqual([0, ""]);
    return said.out;
  };
  const output = async (run: string) => {
    await tell("runs", "start", "writer", "--id", run);
    await tell("runs", "tail", run, "--from", "1");
    return (JSON.parse(await tell("runs", "show", run, "--json")) as { output: number }).output;
  };
  try {
    await dev.says(/^up/m);
    expect(await output("w-1")).toBe(1);
    expect(readFileSync(join(folder, "calls.txt"), "utf8")).toBe("x");
    // Saved as it was.
    writeFileSync(join(folder, "machines.ts"), machines);
    writeFileSync(join(folder, "other.json"), "{}");
    expect(await output("w-2")).toBe(1);
    expect(dev.said.err).not.toContain("loaded anew");
    writeFileSync(join(folder, "fees.json"), '{"fee":2}');
    await dev.says(/loaded anew/);
    expect(await output("w-3")).toBe(2);
    expect(dev.said.err.match(/loaded anew/g)).toHaveLength(1);
  } finally {
    dev.signal("SIGTERM");
    expect(await dev.ended).toBe(0);
  }
});
