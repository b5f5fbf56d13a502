/** Real runs in a file store: what a person reads there, and that a runtime goes on with it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineMachine, openReader } from "holdfast";
import { fileStore } from "holdfast/file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";

const notebook = defineMachine({
  id: "notebook",
  version: 1,
  input: z.object({ owner: z.string() }),
  context: z.object({ owner: z.string(), notes: z.array(z.string()), found: z.string().optional() }),
  events: { note: z.string(), look: z.object({ for: z.string() }), close: z.object({}) },
  activities: { search: { input: z.string(), output: z.string() } },
  start: ({ input }) => ({ owner: input.owner, notes: [] }),
  initial: "open",
  states: {
    open: {
      on: {
        note: {
          update: (draft, { event }) => {
            draft.notes.push(event.data);
          },
        },
        look: "looking",
        close: "closed",
      },
      after: { "2 days": "closed" },
    },
    looking: {
      invoke: {
        activity: "search",
        input: ({ event }) => (event.data as { for: string }).for,
        onDone: {
          target: "open",
          update: (draft, { event }) => {
            draft.found = event.data;
          },
        },
      },
    },
    closed: { type: "final", output: ({ context }) => ({ notes: context.notes.length }) },
  },
});

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

const begin = (seal?: Parameters<typeof createRuntime>[0]["seal"]) =>
  createRuntime({
    store: fileStore({ directory }),
    machines: [notebook.implement({ search: async (text) => `found ${text}` })],
    ...(seal === undefined ? {} : { seal }),
  });

const runFile = (run: string): string => join(directory, "tenants/default/runs", `${run}.json`);
const readRun = (run: string) => JSON.parse(readFileSync(runFile(run), "utf8")) as Record<string, never>;

describe("a run in a file store", () => {
  test("B3: its file tells its machine, its status and its context as plain JSON, while it lives and after", async () => {
    const runtime = await begin();
    const run = await runtime.start(notebook, { id: "diary", input: { owner: "ada" } });
    await run.send("note", "a first note", { key: "click-1" });
    expect(readRun("diary")).toMatchObject({
      head: { machine: "notebook", version: 1, status: "active", seq: 2 },
      state: { configuration: ["open"], context: { owner: "ada", notes: ["a first note"] } },
      keys: [{ key: "click-1", seq: 2 }],
    });
    await run.send("look", { for: "kelp" });
    await run.waitFor("open");
    await run.send("close", {});
    await run.finished();
    await runtime.close();
    expect(readRun("diary")).toMatchObject({
      head: { status: "done" },
      state: { configuration: ["closed"], context: { found: "found kelp" }, output: { notes: 1 } },
      inbox: [],
      activities: [],
    });
  });

  test("B3: its journal has a line for each step, with the event and what it changed", async () => {
    const runtime = await begin();
    const run = await runtime.start(notebook, { id: "diary", input: { owner: "ada" } });
    await run.send("note", "kelp");
    await runtime.close();
    const text = readFileSync(runFile("diary").replace(/json$/, "journal.jsonl"), "utf8");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ seq, json }) => [seq, json.body.event.type])).toEqual([
      [1, "start"],
      [2, "note"],
    ]);
    expect(lines[1]).toMatchObject({
      json: {
        body: { event: { data: "kelp" }, patches: [{ path: ["seq"] }, { path: ["context", "notes"] }] },
      },
    });
  });

  test("the state in its file is whole with large texts and after snapshots, and the next runtime goes on from it", async () => {
    const first = await begin();
    const run = await first.start(notebook, { id: "diary", input: { owner: "ada" } });
    const large = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(400 + 100 * index));
    for (const text of large) await run.send("note", text);
    await first.close();
    expect(readdirSync(join(directory, "tenants/default/contents")).length).toBe(1);
    expect(readRun("diary")).toMatchObject({ state: { context: { notes: large } } });
    const second = await begin();
    const again = await second.start(notebook, { id: "diary", input: { owner: "ada" } });
    await again.send("note", "one more");
    expect((await again.state()).context.notes.length).toBe(41);
    await second.close();
    const reader = await openReader({ store: fileStore({ directory }) });
    const steps = [];
    for await (const step of reader.steps("diary")) steps.push(step);
    await reader.close();
    expect(steps.length).toBe(42);
  });

  test("a damaged snapshot is passed over: the journal leads to the same state", async () => {
    const first = await begin();
    const run = await first.start(notebook, { id: "diary", input: { owner: "ada" } });
    for (let index = 0; index < 60; index++) await run.send("note", `${index} `.repeat(150));
    await first.close();
    const runs = join(directory, "tenants/default/runs");
    const snapshots = readdirSync(runs).filter((name) => name.includes(".snapshot-"));
    expect(snapshots.length).toBeGreaterThan(0);
    for (const name of snapshots) writeFileSync(join(runs, name), "{");
    const second = await begin();
    const again = await second.start(notebook, { id: "diary", input: { owner: "ada" } });
    expect((await again.state()).context.notes.length).toBe(60);
    await second.close();
  });

  test("what is sealed is shown as bytes, and no state is told", async () => {
    const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a);
    const runtime = await begin({ close: flip, open: flip });
    const run = await runtime.start(notebook, { id: "diary", input: { owner: "ada" } });
    await run.send("note", "a secret");
    await runtime.close();
    expect(readRun("diary")).not.toHaveProperty("state");
    for (const name of readdirSync(join(directory, "tenants/default/runs")))
      expect(readFileSync(join(directory, "tenants/default/runs", name), "utf8")).not.toContain("secret");
    const second = await begin({ close: flip, open: flip });
    expect((await (await second.run("diary"))?.state())?.context).toMatchObject({ notes: ["a secret"] });
    await second.close();
  });
});
