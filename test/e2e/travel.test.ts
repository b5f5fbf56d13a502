/** Time travel: all panes at one moment, what differs, who changed it, and ways back and aside. */
import { describe, expect, test } from "vitest";
import { client, hasBrowser, open, queryOf, usePages } from "./page.ts";
import { reached } from "./stage.ts";

describe.skipIf(!hasBrowser)("time travel in Studio", () => {
  usePages();

  test("E3: the arrow keys move chart, timeline and state together, and the link says where", async () => {
    const page = await open("/runs/order-2");
    await page.locator('.box[data-state="approving"][data-lit="true"]').waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.locator('.box[data-state="preparing.money.charging"][data-lit="true"]').waitFor();
    await page.locator('.step[data-seq="3"] [aria-current="step"]').waitFor();
    await page.locator(".inspector").getByText("preparing.money.charging").waitFor();
    await page.getByText(/As it was at step 3 of 4/).waitFor();
    await expect.poll(() => queryOf(page).get("at")).toBe("3");
    await page.keyboard.press("Home");
    await page.locator('.box[data-state="checking"][data-lit="true"]').waitFor();
    await page.keyboard.press("End");
    await page.locator('.box[data-state="approving"][data-lit="true"]').waitFor();
    await expect.poll(() => queryOf(page).get("at")).toBeNull();
  });

  test("E3: a link with a checkpoint opens there", async () => {
    const page = await open("/runs/order-2?at=2");
    await page.locator('.step[data-seq="2"] [aria-current="step"]').waitFor();
    await page.locator('.box[data-state="preparing.goods.packing"][data-lit="true"]').waitFor();
    await page.getByRole("button", { name: "Back to now" }).first().click();
    await page.locator('.step[data-seq="4"] [aria-current="step"]').waitFor();
  });

  test("E3: two checkpoints are compared", async () => {
    const page = await open("/runs/order-2?at=4&tab=diff&from=2");
    const difference = page.locator(".difference");
    await difference.getByText("receipt for 240 euros").waitFor();
    expect(await difference.locator("del").first().isVisible()).toBe(true);
  });

  test("E3: tells which step last changed a value, and goes there", async () => {
    const page = await open("/runs/order-2");
    await page.getByRole("button", { name: "packed" }).click();
    const who = page.getByRole("complementary", { name: "Who last changed it" });
    await who.getByText(/Step 3, pack is done/).waitFor();
    expect(queryOf(page).get("path")).toBe("$.packed");
    await who.getByRole("button", { name: "Go there" }).click();
    await page.locator('.step[data-seq="3"] [aria-current="step"]').waitFor();
  });

  test("E3: forks with an edited context, after telling what would run again", async () => {
    const page = await open("/runs/order-2?at=2");
    await page.locator('.step[data-seq="2"] [aria-current="step"]').waitFor();
    await page.keyboard.press("f");
    const dialog = page.getByRole("dialog", { name: "Fork from step 2" });
    await dialog.getByText("Would run again").waitFor();
    expect(await dialog.getByText(/activity charge/).count()).toBe(1);
    await dialog.getByLabel("Name of the fork").fill("order-2-cheaper");
    const json = dialog.getByRole("textbox", { name: "Context it begins with as JSON" });
    const context = JSON.parse(await json.inputValue()) as object;
    await json.fill(JSON.stringify({ ...context, euros: 50 }));
    await dialog.getByRole("button", { name: "Fork" }).click();
    await page.getByRole("heading", { name: "order-2-cheaper" }).waitFor();
    await page.getByText("order-2 at 2").waitFor();
    // It is cheap now, so nobody is asked.
    await page.locator('.box[data-state="delivering"][data-lit="true"]').waitFor();
    expect((await client.runs.show({ run: "order-2" })).configuration).toEqual(["approving"]);
  });

  test("E3: the preview of a fork follows the edited context, and tells what would be refused", async () => {
    const page = await open("/runs/order-2?at=3");
    await page.locator('.step[data-seq="3"] [aria-current="step"]').waitFor();
    await page.keyboard.press("f");
    const dialog = page.getByRole("dialog", { name: "Fork from step 3" });
    await dialog.getByText("Would run again").waitFor();
    const json = dialog.getByRole("textbox", { name: "Context it begins with as JSON" });
    const context = JSON.parse(await json.inputValue()) as object;
    const fork = dialog.getByRole("button", { name: "Fork", exact: true });
    await json.fill(JSON.stringify({ ...context, euros: "many" }));
    await dialog.getByText(/context does not fit its schema/).waitFor();
    expect(await fork.isDisabled()).toBe(true);
    await json.fill(JSON.stringify({ ...context, euros: 60 }));
    await dialog.getByText("Would run again").waitFor();
    await expect.poll(() => fork.isEnabled()).toBe(true);
  });

  test("E3: rolls back in a new step, after telling what would run again", async () => {
    const run = "rollback-1";
    await client.runs.start({ run, machine: "order", input: { item: "lamp", euros: 300 } });
    await reached(client, run, "approving");
    const page = await open(`/runs/${run}?at=2`);
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to step 2" });
    await dialog.getByText("Would run again").waitFor();
    await dialog.getByText(/holdfast runs rollback rollback-1/).waitFor();
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page.getByRole("region", { name: "Timeline" }).getByText("rolled back").waitFor();
    await page.locator('.box[data-state="approving"][data-lit="true"]').waitFor();
    const { entries } = await client.runs.journal({ run, from: 5, limit: 1 });
    expect(entries[0]?.event.type).toBe("rollback");
  });

  test("E3: rolls back with an edited context, and what it would do is told for that", async () => {
    const run = "rollback-2";
    await client.runs.start({ run, machine: "order", input: { item: "lamp", euros: 300 } });
    await reached(client, run, "approving");
    const page = await open(`/runs/${run}?at=2`);
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to step 2" });
    const json = dialog.getByRole("textbox", { name: "Context it goes on with as JSON" });
    const context = JSON.parse(await json.inputValue()) as object;
    await json.fill(JSON.stringify({ ...context, euros: "many" }));
    await dialog.getByText(/context does not fit its schema/).waitFor();
    const back = dialog.getByRole("button", { name: "Roll back" });
    expect(await back.isDisabled()).toBe(true);
    await json.fill(JSON.stringify({ ...context, euros: 50 }));
    await dialog.getByText(/--set 'euros=50'|--set euros=50/).waitFor();
    await expect.poll(() => back.isEnabled()).toBe(true);
    await back.click();
    // It is cheap now, so nobody is asked.
    await page.locator('.box[data-state="delivering"][data-lit="true"]').waitFor();
  });
});
