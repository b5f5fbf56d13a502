/** `holdfast init`: what it makes is a project whose tests run and whose types hold. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { root } from "../project.ts";
import { holdfast } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-init-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What `npm install` would do: here holdfast is this very package. */
function install(project: string): void {
  mkdirSync(join(project, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(project, "node_modules/holdfast"));
  for (const name of ["zod", "@types/node"])
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
}

test.each(["sqlite", "postgres"])(
  "G5: a project on %s has tests that run, and types that hold",
  async (store) => {
    const made = holdfast(["init", `my-${store}`, "--store", store], {}, folder);
    expect(await made.ended).toBe(0);
    expect(made.said.out).toContain("npm test");
    const project = join(folder, `my-${store}`);
    install(project);
    const run = (...command: string[]) =>
      spawnSync(process.execPath, command, { cwd: project, encoding: "utf8" });
    const tests = run("--conditions=holdfast-source", "--test");
    expect(tests.stdout).toMatch(/pass 3\n(.*\n)*.*fail 0/);
    const types = run(
      join(root, "node_modules/typescript/bin/tsc"),
      "--noEmit",
      "--customConditions",
      "holdfast-source",
    );
    expect(types.stdout).toBe("");
    const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(scripts.start).toContain(store === "sqlite" ? "agents.db" : "postgres://");
  },
);

test("F5: a folder that has something in it is left as it is, and a store that is none is refused", async () => {
  mkdirSync(join(folder, "full"));
  writeFileSync(join(folder, "full/mine.txt"), "mine");
  const full = holdfast(["init", "full"], {}, folder);
  expect([await full.ended, full.said.err]).toEqual([2, expect.stringContaining("new or empty")]);
  const other = holdfast(["init", "new", "--store", "oracle"], {}, folder);
  expect([await other.ended, other.said.err]).toEqual([2, expect.stringContaining("sqlite, postgres")]);
});
