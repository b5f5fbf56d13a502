/** The list of runs: filters in the link, what is stuck, news that do not jump, many at once. */
import { beforeAll, describe, expect, test } from "vitest";
import { client, hasBrowser, open, queryOf, usePages } from "./page.ts";

describe.skipIf(!hasBrowser)("the list of runs in Studio", () => {
  usePages();

  beforeAll(async () => {
    for (let number = 0; number < 260; number++)
      await client.runs.start({ run: `many-${number}`, machine: "counter", subject: "many" });
  });

  test("E4: narrows down by what the link says, and says in the link what was chosen", async () => {
    const page = await open("/runs?status=failed");
    await page.getByRole("link", { name: "fragile-1" }).waitFor();
    expect(await page.getByRole("link", { name: "order-2" }).count()).toBe(0);
    await page.getByRole("button", { name: "failed" }).click();
    await page.getByRole("combobox", { name: "Machine" }).selectOption("order");
    await page.getByRole("link", { name: "order-2", exact: true }).waitFor();
    expect(queryOf(page).get("machine")).toBe("order");
    expect(queryOf(page).has("status")).toBe(false);
    await page.getByPlaceholder("Attribute: name=value").fill("item=anchor");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "order-1", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "order-2", exact: true }).waitFor();
  });

  test("E4: shows which runs are stuck, and which wait for a person", async () => {
    const page = await open("/runs?stuck=true");
    await page.getByRole("link", { name: "counter-2" }).waitFor();
    await page
      .getByText(/stuck: parked/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "stuck" }).click();
    await page.getByRole("button", { name: "waits for a person" }).click();
    await page.getByRole("link", { name: "support-1" }).waitFor();
  });

  test("E4: draws only what is in sight, and reads on as one scrolls", async () => {
    const page = await open("/runs?subject=many");
    await page.getByText(/100 runs read, and there are more/).waitFor();
    expect(await page.locator(".run-row").count()).toBeLessThan(60);
    await page.getByRole("region", { name: "List of runs" }).hover();
    // The next page must have come before there is anything more to scroll to.
    const last = page.getByRole("link", { name: "many-0", exact: true });
    for (let round = 0; round < 200 && !(await last.isVisible()); round++) {
      await page.mouse.wheel(0, 3_000);
      await page.waitForTimeout(100);
    }
    await page.getByText("260 runs read").waitFor();
    await last.waitFor();
    expect(await page.locator(".run-row").count()).toBeLessThan(60);
  });

  test("E4: counts what is new without moving what is shown, until it is asked for", async () => {
    const page = await open("/runs?machine=fragile");
    await page.getByRole("link", { name: "fragile-1" }).waitFor();
    const before = await page.locator(".run-row").first().getAttribute("data-run");
    await client.runs.start({ run: "fragile-new", machine: "fragile" });
    const pill = page.getByRole("button", { name: "1 new" });
    await pill.waitFor();
    expect(await page.locator(".run-row").first().getAttribute("data-run")).toBe(before);
    await pill.click();
    await page.getByRole("link", { name: "fragile-new" }).waitFor();
    await pill.waitFor({ state: "detached" });
  });

  test("E4: shows how listed runs stand as it changes", async () => {
    await client.runs.start({ run: "changing-1", machine: "counter", subject: "changing" });
    const page = await open("/runs?subject=changing");
    const row = page.locator('.run-row[data-run="changing-1"]');
    await row.getByText("active").waitFor();
    await client.runs.send({ run: "changing-1", events: [{ type: "stop" }] });
    await row.getByText("done").waitFor();
  });

  test("E4: cancels many at once, after telling how many", async () => {
    for (const run of ["bulk-1", "bulk-2", "bulk-3"])
      await client.runs.start({ run, machine: "counter", subject: "bulk" });
    const page = await open("/runs?subject=bulk");
    await page.getByRole("link", { name: "bulk-1" }).waitFor();
    await page.getByRole("button", { name: "Cancel all that match" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel runs" });
    await dialog.getByText(/3 runs would be cancelled/).waitFor();
    await dialog.getByRole("button", { name: "Cancel 3 runs" }).click();
    await dialog.getByText(/3 runs cancelled/).waitFor();
    expect((await client.runs.show({ run: "bulk-2" })).status).toBe("cancelled");
  });

  test("E4: does to many at once what was told, and not to those that came meanwhile", async () => {
    for (const run of ["told-1", "told-2"])
      await client.runs.start({ run, machine: "counter", subject: "told" });
    const page = await open("/runs?subject=told&since=1h");
    await page.getByRole("link", { name: "told-1" }).waitFor();
    await page.getByRole("button", { name: "Cancel all that match" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel runs" });
    await dialog.getByText(/2 runs would be cancelled/).waitFor();
    await client.runs.start({ run: "told-3", machine: "counter", subject: "told" });
    await dialog.getByRole("button", { name: "Cancel 2 runs" }).click();
    await dialog.getByText(/2 runs cancelled/).waitFor();
    const statusOf = async (run: string) => (await client.runs.show({ run })).status;
    expect(await Promise.all(["told-1", "told-2", "told-3"].map(statusOf))).toEqual([
      ...["cancelled", "cancelled", "active"],
    ]);
  });

  test("E4: a list since some time stays where it is when a minute has passed", async () => {
    const page = await open("/machines");
    await page.clock.install();
    await page.goto(page.url().replace("/machines", "/runs?subject=many&since=1d"));
    await page.getByText(/100 runs read, and there are more/).waitFor();
    const box = page.getByRole("region", { name: "List of runs" });
    await box.evaluate((element) => element.scrollTo(0, 800));
    await page.clock.fastForward(90_000);
    await client.runs.start({ run: "many-late", machine: "counter", subject: "many" });
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await page.getByText("Reading…").count()).toBe(0);
    expect(await box.evaluate((element) => element.scrollTop)).toBe(800);
    await client.runs.cancel({ run: "many-late" });
  });

  test("E4: an empty list shows the first run by itself, also by an attribute", async () => {
    const bySubject = await open("/runs?subject=first");
    const byAttribute = await open("/runs?attribute=item%3Dsextant");
    for (const page of [bySubject, byAttribute]) await page.getByText("No run matches").waitFor();
    const input = { item: "sextant", euros: 20 };
    await client.runs.start({ run: "first-1", machine: "order", subject: "first", input });
    for (const page of [bySubject, byAttribute]) {
      await page.getByRole("link", { name: "first-1" }).waitFor();
      expect(await page.getByRole("button", { name: /new$/ }).count()).toBe(0);
    }
  });

  test("E4: brings picked runs back", async () => {
    await client.runs.start({ run: "parked-1", machine: "counter", subject: "parked" });
    await client.runs.pause({ run: "parked-1" });
    const page = await open("/runs?subject=parked");
    await page.getByRole("checkbox", { name: "Pick parked-1" }).check();
    await page.getByRole("button", { name: "Retry 1 run" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry 1 run" }).click();
    await page.getByText(/1 run brought back/).waitFor();
    expect((await client.runs.show({ run: "parked-1" })).status).toBe("active");
  });
});
