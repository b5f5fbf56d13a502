/** A run: why it waits, its chart, its timeline and what it knows, all in step and alive. */
import { describe, expect, test } from "vitest";
import { client, hasBrowser, open, queryOf, usePages } from "./page.ts";
import { reached } from "./stage.ts";

const newOrder = async (run: string, euros: number) => {
  await client.runs.start({ run, machine: "order", input: { item: "boots", euros } });
  await reached(client, run, euros >= 100 ? "approving" : "delivering");
};

describe.skipIf(!hasBrowser)("a run in Studio", () => {
  usePages();

  test("says in one line why it waits, and leads to the decision", async () => {
    const page = await open("/runs/order-2");
    const why = page.locator(".why");
    expect(await why.innerText()).toMatch(/waits for a decision: Large orders/);
    await why.getByRole("link", { name: "Decide" }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    expect(queryOf(page).get("run")).toBe("order-2");
    await page.locator(".decision-asked").getByText("Large orders").waitFor();
  });

  test("E4: shows what happened while it was being read, though nothing happens after it", async () => {
    await newOrder("read-late", 300);
    const page = await open("/runs");
    const isListening = page.waitForResponse((response) => response.url().endsWith("/v1/steps"));
    let reads = 0;
    await page.route(/read-late\/(journal\?limit=1|journal\?run)/, async (route) => {
      const response = await route.fetch();
      // The first answer is of before the decision, and comes after the news of it.
      if (reads++ === 0) {
        await isListening;
        await client.runs.send({
          run: "read-late",
          events: [{ type: "approve", data: {} }],
          wait: "handled",
        });
        await reached(client, "read-late", "delivering");
        await new Promise((pass) => setTimeout(pass, 500));
      }
      await route.fulfill({ response });
    });
    await page.goto(`${new URL(page.url()).origin}/runs/read-late`);
    await page.locator('.box[data-state="delivering"][data-lit="true"]').waitFor();
    expect(reads).toBeGreaterThan(1);
  });

  test("shows its chart with states in states, and lights where it is", async () => {
    const page = await open("/runs/order-2");
    await page.locator('.box[data-state="approving"][data-lit="true"]').waitFor();
    // The regions of a parallel state are boxes in its box.
    await page.locator('.box[data-state="preparing"][data-type="parallel"]').waitFor();
    await page.locator('.box[data-state="preparing.money.charged"][data-type="final"]').waitFor();
    expect(await page.locator('.box[data-state="delivering"]').getAttribute("data-lit")).toBe("false");
    expect(await page.locator('.arrow[data-lit="true"]').count()).toBeGreaterThan(0);
  });

  test("tells what was waited for before each step, and what is waited for now", async () => {
    const page = await open("/runs/order-2");
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByText("charge is done").waitFor();
    expect(await timeline.locator('.step .bar[data-kind="activity"]').count()).toBe(3);
    expect(await timeline.locator('.now .bar[data-kind="person"]').count()).toBe(1);
    expect(await timeline.locator('.now .bar[data-kind="timer"]').count()).toBe(1);
    const failed = await open("/runs/fragile-1");
    // Two attempts of one activity are one bar.
    await failed
      .getByText(/· 2 attempts/)
      .first()
      .waitFor();
  });

  test("marks the transition that the step took, and no other", async () => {
    await newOrder("marked-1", 40);
    await client.runs.send({ run: "marked-1", events: [{ type: "delivered", data: {} }], wait: "handled" });
    const page = await open("/runs/marked-1");
    const lit = page.locator('.arrow[data-lit="true"]');
    await lit.first().waitFor();
    const marked = await lit.evaluateAll((arrows) => arrows.map((arrow) => arrow.getAttribute("data-arrow")));
    expect(marked).toEqual(["delivering→done"]);
  });

  test("finds the places of its chart in a worker", async () => {
    const page = await open("/machines");
    const worker = page.waitForEvent("worker", (one) => one.url().includes("elk-worker"));
    await page.goto(`${new URL(page.url()).origin}/runs/order-2`);
    await worker;
    await page.locator('.box[data-state="approving"][data-lit="true"]').waitFor();
  });

  test("tells what a step used up", async () => {
    const { entries } = await client.runs.journal({ run: "researcher-1", limit: 50 });
    const asked = entries.find(({ spent }) => spent?.tokens !== undefined);
    const page = await open(`/runs/researcher-1?at=${asked?.seq}&tab=step`);
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByText("Tokens", { exact: true }).waitFor();
    await inspector.locator("dd").getByText(String(asked?.spent?.tokens), { exact: true }).waitFor();
  });

  test("moves on by itself when the run does", async () => {
    await newOrder("live-1", 40);
    const page = await open("/runs/live-1");
    await page.locator('.box[data-state="delivering"][data-lit="true"]').waitFor();
    await client.runs.send({ run: "live-1", events: [{ type: "delivered", data: {} }] });
    await page.locator('.box[data-state="done"][data-lit="true"]').waitFor();
    await page.locator(".run-head").getByText("done", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Timeline" }).getByText("delivered").waitFor();
  });

  test("shows the step, its effects and what came of them", async () => {
    const page = await open("/runs/order-2?at=2&tab=effects");
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByText("receipt for 240 euros").waitFor();
    await inspector.getByRole("tab", { name: "Step" }).click();
    await inspector.getByText("done.invoke.check").first().waitFor();
    await inspector.getByRole("tab", { name: "State" }).click();
    await inspector.getByText('"anchor"').waitFor();
    expect(queryOf(page).get("tab")).toBe("state");
  });

  test("sends an event with a form made from its schema", async () => {
    await newOrder("send-1", 40);
    const page = await open("/runs/send-1?tab=events");
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByRole("button", { name: "note" }).click();
    await inspector.getByRole("textbox", { name: "text" }).fill("ring twice");
    await inspector.getByRole("button", { name: "Send" }).click();
    await inspector.getByText(/^taken, with step/).waitFor();
    await inspector.getByRole("tab", { name: "State" }).click();
    await inspector.getByText("ring twice").waitFor();
  });

  test("pauses, takes one event at a time, and goes on", async () => {
    await client.runs.start({ run: "pause-1", machine: "counter" });
    const page = await open("/runs/pause-1");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Go on" }).waitFor();
    await client.runs.send({ run: "pause-1", events: [{ type: "tick" }, { type: "tick" }] });
    await page.getByRole("button", { name: "One event" }).click();
    await page.getByText('"tick 1"').waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText('"tick 2"').waitFor();
  });

  test("stops where it was told to in the chart", async () => {
    await client.runs.start({ run: "break-1", machine: "counter" });
    const page = await open("/runs/break-1");
    await page.locator('.box[data-state="stopped"]').click();
    await page.getByRole("button", { name: "Stop when it comes here" }).click();
    await page.getByRole("button", { name: "Do not stop here" }).waitFor();
    expect((await client.runs.show({ run: "break-1" })).breakpoints).toEqual([{ state: "stopped" }]);
  });

  test("is cancelled after a question", async () => {
    await newOrder("cancel-1", 40);
    const page = await open("/runs/cancel-1");
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.locator(".run-head").getByText("cancelled").waitFor();
  });

  test("of 100,000 steps opens at its newest ones and goes anywhere", async () => {
    const page = await open("/runs/long");
    await page.locator('.step[data-seq="100000"]').waitFor();
    // Only what is in sight is there.
    expect(await page.locator(".step").count()).toBeLessThan(60);
    await page.goto(`${new URL(page.url()).origin}/runs/long?at=50000`);
    await page.locator('.step[data-seq="50000"] [aria-current="step"]').waitFor();
    await page.getByText('"tick 49999"').waitFor();
    await page.keyboard.press("Home");
    await page.locator('.step[data-seq="1"] [aria-current="step"]').waitFor();
    const slider = page.getByRole("slider", { name: "Checkpoint" });
    await slider.fill("75000");
    await page.getByText('"tick 74999"').waitFor();
  });
});
