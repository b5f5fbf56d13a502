/** What Studio offers to copy works where it is pasted: every curl and every command is carried out by a shell. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { client, hasBrowser, open, usePages } from "./page.ts";
import { reached } from "./stage.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "holdfast-copies-"));

/** Carries a copied line out, in a folder that knows of no server; gives what it tells. */
async function paste(line: string): Promise<string> {
  const env = { PATH: `${folder}:${process.env.PATH}` };
  return (await promisify(execFile)("sh", ["-c", line], { cwd: folder, env })).stdout;
}

const copied = (page: Page): Promise<string> => page.evaluate("navigator.clipboard.readText()");

/** Chooses from the menu of the page, and pastes. */
async function pasteChosen(page: Page, choice: string): Promise<string> {
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: choice, exact: true }).click();
  return paste(await copied(page));
}

/** Copies what stands beside a command, and pastes. */
async function pasteBeside(place: Page | Locator, what: "command" | "curl"): Promise<string> {
  await place.getByRole("button", { name: `Copy ${what}`, exact: true }).click();
  return paste(await copied("page" in place ? place.page() : place));
}

describe.skipIf(!hasBrowser)("what Studio offers to copy", () => {
  usePages();
  beforeAll(() => {
    const program = join(folder, "holdfast");
    const main = join(root, "src/cli/main.ts");
    writeFileSync(
      program,
      `#!/bin/sh\nexec '${process.execPath}' --conditions=holdfast-source '${main}' "$@"\n`,
    );
    chmodSync(program, 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("E4: pages tell the same by curl and by command", async () => {
    for (const [path, wait, told, hasCommand] of [
      ["/runs/order-2", ".box[data-lit=true]", "order-2", false],
      ["/runs?machine=order&attribute=item%3Danchor", "text=order-2", "order-2", true],
      ["/runs?subject=ben&since=7d", "text=order-2", "order-2", false],
      ["/inbox", ".decision", "order-2", true],
      ["/machines", "text=order", "order", true],
      ["/machines/order", ".box", "approving", false],
      ["/dashboard", "text=Throughput", "throughput", false],
    ] as const) {
      const page = await open(path);
      await page.locator(wait).first().waitFor();
      expect(await pasteChosen(page, "Copy as curl")).toContain(told);
      if (hasCommand) expect(await pasteChosen(page, "Copy as CLI")).toContain(told);
    }
    const page = await open("/runs/order-2");
    await page.locator(".box[data-lit=true]").first().waitFor();
    expect(await pasteChosen(page, "Copy as CLI: show")).toContain("approving");
  });

  test("E4: a start has its input, its name and its version", async () => {
    const page = await open("/machines/order");
    await page.getByLabel("Name").fill("pasted-1");
    await page.getByRole("textbox", { name: "item" }).fill("Ada's rope");
    await page.getByRole("spinbutton", { name: "euros" }).fill("7");
    await pasteBeside(page, "command");
    await page.getByLabel("Name").fill("pasted-2");
    expect(JSON.parse(await pasteBeside(page, "curl"))).toMatchObject({ run: "pasted-2", version: 1 });
    for (const run of ["pasted-1", "pasted-2"]) {
      const { state } = await client.runs.state({ run });
      expect(state.context).toMatchObject({ item: "Ada's rope", euros: 7 });
    }
  });

  test("E3: a fork has its edited context, a rollback its checkpoint", async () => {
    const run = "pasted-travel";
    await client.runs.start({ run, machine: "order", input: { item: "lamp", euros: 300 } });
    await reached(client, run, "approving");
    const page = await open(`/runs/${run}?at=2`);
    await page.getByRole("button", { name: "Fork" }).click();
    const dialog = page.getByRole("dialog", { name: "Fork from step 2" });
    await dialog.getByLabel("Name of the fork").fill("pasted-fork");
    const json = dialog.getByRole("textbox", { name: "Context it begins with as JSON" });
    const context = JSON.parse(await json.inputValue()) as object;
    await json.fill(JSON.stringify({ ...context, euros: 50 }));
    await pasteBeside(dialog, "command");
    expect((await client.runs.show({ run: "pasted-fork" })).fork).toMatchObject({ run, seq: 2 });
    expect((await client.runs.state({ run: "pasted-fork" })).state.context).toMatchObject({ euros: 50 });
    await dialog.getByLabel("Name of the fork").fill("pasted-again");
    expect(JSON.parse(await pasteBeside(dialog, "curl"))).toMatchObject({ run: "pasted-again" });
    expect((await client.runs.state({ run: "pasted-again" })).state.context).toMatchObject({ euros: 50 });
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Roll back" }).click();
    await pasteBeside(page.getByRole("dialog", { name: "Roll back to step 2" }), "command");
    const { entries } = await client.runs.journal({ run, from: 5, limit: 1 });
    expect(entries[0]?.event).toMatchObject({ type: "rollback", data: { to: 2 } });
  });

  test("E3: a decision is made by what is copied beside it", async () => {
    for (const [run, what] of [
      ["pasted-leave", "command"],
      ["pasted-day-off", "curl"],
    ] as const) {
      await client.runs.start({ run, machine: "leave" });
      const page = await open(`/inbox?run=${run}`);
      await page.locator(".decision").waitFor();
      await pasteBeside(page, what);
      await reached(client, run, "granted");
    }
  });
});
