/** A run of the file store whose `<run>.json` is damaged: `verify` tells of it, and `repair` brings it back. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { fileStore } from "../../store/file/store.ts";
import { createRuntime } from "../runtime.ts";
import { repair } from "./repair.ts";
import { verify } from "./verify.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-damaged-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const caller = callerWith();
const open = () =>
  createRuntime({
    store: fileStore({ directory }),
    machines: [counter, { machine: caller, activities: { tool: () => new Promise(() => {}) } }] as never,
  });

describe("a damaged file of a run", () => {
  test.each([
    ["empty", () => ""],
    ["cut short", (text: string) => text.slice(0, 100)],
    ["not JSON at one place", (text: string) => text.replace('"status": "active"', '"status": active')],
  ])(
    "that is %s is told by verify and mended by repair, and others are what they were",
    async (_, damage) => {
      let runtime = await open();
      const long = "n".repeat(5_000);
      const run = await runtime.start(counter, { id: "a", subject: "somebody", input: 3 });
      await run.send("add", 2);
      await run.send("note", long);
      const other = await runtime.start(caller, { id: "b" });
      const [state, beside] = [await run.state(), await other.state()];
      await runtime.close();
      const path = join(directory, "tenants/default/runs/a.json");
      const text = readFileSync(path, "utf8");
      writeFileSync(path, damage(text));

      runtime = await open();
      await expect(runtime.run("a")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      expect(await (await runtime.run("b")).state()).toEqual(beside);
      await runtime.close();

      const store = fileStore({ directory });
      await store.open();
      const { problems } = await verify({ store });
      expect(problems[0]).toMatchObject({ kind: "run", run: "a", problem: expect.stringContaining(path) });
      const { runs, left } = await repair({ store });
      expect(runs).toMatchObject([{ run: "a", is: damage(text) === "" ? 2 : 3, was: 3 }]);
      expect(left).toEqual([]);
      await store.close();

      runtime = await open();
      const mended = await runtime.run("a");
      // Whose data it was is not in its journal, so texts that are kept by that are lost with the file.
      if (damage(text) !== "") expect(await mended.state()).toEqual(state);
      expect((await mended.head()).subject).toBe(damage(text) === "" ? "a" : "somebody");
      if ((await mended.head()).status === "parked") await mended.retry();
      await mended.send("add", 1);
      expect((await mended.state()).context).toMatchObject({ n: 6 });
      await runtime.close();
    },
  );
});
