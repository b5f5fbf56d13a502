/** What is long, empty or narrow: nothing is drawn over anything else, and nothing ends without a word or an ellipsis. */
import type { Locator } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { client, hasBrowser, open, usePages } from "./page.ts";

const id = `odd-${"machine-".repeat(12)}`;
const state = `waiting_${"in_a_state_without_an_end_".repeat(4)}`;
const run = `odd-${"run-".repeat(60)}`;

/** Whether two parts of a page lie over each other. */
async function areOver(one: Locator, other: Locator): Promise<boolean> {
  const [a, b] = [await one.boundingBox(), await other.boundingBox()];
  if (a === null || b === null || a.width < 1 || b.width < 1) throw new Error("A part is not to be seen");
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

const isCut = (part: Locator) => part.evaluate((found) => found.scrollWidth > found.clientWidth);

describe.skipIf(!hasBrowser)("what is odd in Studio", () => {
  usePages();
  beforeAll(async () => {
    const definition = { id, initial: state, states: { [state]: { on: { go: "over" } }, over: {} } };
    await client.machines.upload({ source: definition });
    await client.runs.start({ machine: id, run });
  });

  test("F5: names without end leave room for what stands beside them, on a narrow screen too", async () => {
    for (const width of [390, 1440]) {
      const page = await open("/runs", { viewport: { width, height: 800 } });
      const row = page.locator(`.run-row[data-run="${run}"]`);
      await row.waitFor();
      const parts = [".run-link", ".status", ".run-machine", "time"].map((part) => row.locator(part));
      for (const [index, part] of parts.entries())
        for (const other of parts.slice(index + 1)) expect(await areOver(part, other)).toBe(false);
    }
  });

  test("F5: a name that is too long for its box ends in an ellipsis, and stands whole among the states", async () => {
    const page = await open(`/runs/${run}`);
    const name = page.locator(`.box[data-state="${state}"] .box-name > span`);
    await name.waitFor();
    expect(await isCut(name)).toBe(true);
    const look = 'getComputedStyle(document.querySelector(".box-name > span")).textOverflow';
    expect(await page.evaluate(look)).toBe("ellipsis");
    const leaf = page.locator(".leaf", { hasText: state });
    expect(await isCut(leaf)).toBe(false);
    expect(await isCut(page.locator(".leaves"))).toBe(false);
  });

  test("a context with nothing in it says so", async () => {
    const page = await open(`/runs/${run}`);
    await page.locator(".part", { hasText: "Context" }).getByText("Empty.").waitFor();
  });

  test("the inbox says once what is asked, and only the keys that decide it", async () => {
    const page = await open("/inbox?run=order-2");
    const asked = "Large orders are looked at by a person";
    await page.locator(".decision").getByText(asked).first().waitFor();
    expect(await page.locator(".decision").getByText(asked).count()).toBe(1);
    const keys = await page.locator(".inbox-keys").innerText();
    expect(keys).toMatch(/approve[\s\S]*reject/);
    expect(keys).not.toMatch(/edit|respond/);
    const tool = await open("/inbox?run=support-1");
    await tool.locator(".decision").waitFor();
    expect(await tool.locator(".inbox-keys").innerText()).toMatch(
      /approve[\s\S]*edit[\s\S]*reject[\s\S]*respond/,
    );
  });

  test("keys are named as they are on the keyboard at hand", async () => {
    const linux = await open("/runs");
    expect(await linux.locator(".rail-find kbd").innerText()).toBe("Ctrl K");
    const page = await open("/runs", { userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" });
    await page.addInitScript(() => Object.defineProperty(navigator, "platform", { value: "MacIntel" }));
    await page.reload();
    expect(await page.locator(".rail-find kbd").innerText()).toBe("⌘ K");
  });
});
