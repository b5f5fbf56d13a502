/** Moving through a long run quickly: where it ends is what all panes show, and little is asked for on the way. */
import type { Page, Request } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser, open, queryOf, usePages } from "./page.ts";

/** What the page asks of the run's past. */
const isOfPast = (request: Request): boolean => /\/v1\/runs\/long\/(state|journal)\?/.test(request.url());

const sliderOf = (page: Page) => page.getByRole("slider", { name: "Checkpoint" });

/** Drags the handle from the newest step to a share of the line, over so many places. A hand does not wait for the page. */
async function drag(page: Page, to: number, places: number): Promise<number> {
  const line = await sliderOf(page).boundingBox();
  if (line === null) throw new Error("There is no tide line");
  const xOf = (share: number) => line.x + 8 + share * (line.width - 16);
  const y = line.y + line.height / 2;
  await page.mouse.move(xOf(1), y);
  await page.mouse.down();
  await Promise.all(
    Array.from({ length: places }, (_, index) =>
      page.mouse.move(xOf(1 + ((to - 1) * (index + 1)) / places), y),
    ),
  );
  await page.mouse.up();
  return Number(await sliderOf(page).inputValue());
}

/** Waits until every pane is at a checkpoint. */
async function allAt(page: Page, seq: number): Promise<void> {
  await page.locator(`.step[data-seq="${seq}"] [aria-current="step"] .step-type`).waitFor();
  await page.getByText(`As it was at step ${seq} of 100000,`).waitFor();
  await page
    .locator(".inspector")
    .getByText(`"tick ${seq - 1}"`)
    .waitFor();
  await expect.poll(() => queryOf(page).get("at")).toBe(String(seq));
  expect(await sliderOf(page).inputValue()).toBe(String(seq));
}

async function openLong(): Promise<Page> {
  const page = await open("/runs/long");
  await page.locator('.step[data-seq="100000"] .step-type').waitFor();
  await page.locator(".inspector").getByText('"tick 99999"').waitFor();
  return page;
}

describe.skipIf(!hasBrowser)("scrubbing in Studio", () => {
  usePages();

  test("E3: a quick drag over a run of 100,000 steps ends with every pane at its last place", async () => {
    const page = await openLong();
    const seq = await drag(page, 0.31, 200);
    expect(seq).toBeGreaterThan(28_000);
    expect(seq).toBeLessThan(34_000);
    await allAt(page, seq);
  });

  test("E3: what a drag has outrun is aborted, and no late answer is shown", async () => {
    const page = await openLong();
    const aborted: string[] = [];
    page.on("requestfailed", (request) => {
      if (isOfPast(request)) aborted.push(request.url());
    });
    await page.route(/\/v1\/runs\/long\/(state|journal)\?/, async (route) => {
      await new Promise((over) => setTimeout(over, 300));
      // It may be aborted by now.
      await route.continue().catch(() => undefined);
    });
    await drag(page, 0.9, 60);
    await page.mouse.down();
    for (const share of [0.8, 0.7, 0.6, 0.5]) {
      const line = await sliderOf(page).boundingBox();
      await page.mouse.move((line?.x ?? 0) + share * (line?.width ?? 0), (line?.y ?? 0) + 8);
      await page.waitForTimeout(120);
    }
    await page.mouse.up();
    const seq = Number(await sliderOf(page).inputValue());
    await allAt(page, seq);
    expect(aborted.some((url) => url.includes("state"))).toBe(true);
    expect(aborted.some((url) => url.includes("journal"))).toBe(true);
    // Longer than any answer was held back.
    await page.waitForTimeout(600);
    await allAt(page, seq);
  });

  test("E3: a drag asks for some moments on its way, however many places it passes", async () => {
    const page = await openLong();
    let asked = 0;
    page.on("request", (request) => {
      if (isOfPast(request)) asked++;
    });
    const from = performance.now();
    const seq = await drag(page, 0.55, 400);
    await allAt(page, seq);
    // A moment every 50 ms at the most, with a state and two pages each; and what is around the last.
    const moments = (performance.now() - from) / 50 + 2;
    expect(asked).toBeLessThan(Math.min(400, 3 * moments + 6));
  });

  test("E3: a key that is held counts every press, and reads the journal by pages", async () => {
    const page = await open("/runs/long?at=50050");
    await allAt(page, 50_050);
    let pages = 0;
    page.on("request", (request) => {
      if (isOfPast(request) && request.url().includes("journal")) pages++;
    });
    await Promise.all(Array.from({ length: 120 }, () => page.keyboard.down("ArrowLeft")));
    await page.keyboard.up("ArrowLeft");
    await allAt(page, 49_930);
    expect(pages).toBeLessThan(6);
  });

  test("E3: the steps beside one that is looked at are read before they are gone to", async () => {
    const page = await open("/runs/long");
    const beside = [39_999, 40_001].map((at) =>
      page.waitForRequest((request) => request.url().endsWith(`/state?at=${at}`)),
    );
    await sliderOf(page).fill("40000");
    await Promise.all(beside);
  });

  test("E3: of the pages that were looked at a bounded number is kept", async () => {
    const page = await openLong();
    const goTo = async (seq: number) => {
      await sliderOf(page).fill(String(seq));
      await page.locator(`.step[data-seq="${seq}"] [aria-current="step"] .step-type`).waitFor();
    };
    const isFirst = (request: Request) => request.url().includes("journal?from=1001&");
    await goTo(1_050);
    for (let index = 0; index < 70; index++) await goTo(2_050 + index * 1_000);
    const again = page.waitForRequest(isFirst);
    await goTo(1_050);
    await again;
  });

  test("E3: the first row in sight is a whole one, at the newest step and anywhere else", async () => {
    const page = await openLong();
    const cut = () =>
      page.locator(".timeline-box").evaluate((box) => (box as { scrollTop: number }).scrollTop % 34);
    expect(await cut()).toBe(0);
    // A link opens there too.
    await page.goto(`${new URL(page.url()).origin}/runs/long?at=1234`);
    await page.locator('.step[data-seq="1234"] [aria-current="step"] .step-type').waitFor();
    expect(await cut()).toBe(0);
    await sliderOf(page).fill("70000");
    await page.locator('.step[data-seq="70000"] [aria-current="step"] .step-type').waitFor();
    expect(await cut()).toBe(0);
  });
});
