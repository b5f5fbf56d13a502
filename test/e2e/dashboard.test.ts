/** The dashboard and the registry of machines. */
import { describe, expect, test } from "vitest";
import { hasBrowser, open, queryOf, usePages } from "./page.ts";

describe.skipIf(!hasBrowser)("the dashboard in Studio", () => {
  usePages();

  test("E4: shows throughput, latency, queue, timer lag, failures, workers and the store's size", async () => {
    const page = await open("/dashboard");
    for (const name of ["Throughput", "Latency", "Queue: how many are due", "Queue age and timer lag"])
      await page.getByRole("heading", { name }).waitFor();
    expect(await page.locator(".plot canvas").count()).toBe(4);
    const failures = page.getByRole("region", { name: "Failures" });
    await failures.getByText("Nobody is there").waitFor();
    await page.getByText("Store: sqlite").waitFor();
    await page.getByRole("region", { name: "Workers" }).waitFor();
    await failures.getByRole("link").first().click();
    await page.locator(".run-head h1").waitFor();
  });

  test("E4: shows a tenant its own figures, and of a server that is not its own a calm absence", async () => {
    const page = await open("/dashboard");
    await page.route("**/v1/overview", async (route) => {
      const response = await route.fetch();
      const { server: _server, ...own } = (await response.json()) as Record<string, unknown>;
      await route.fulfill({ response, json: own });
    });
    await page.reload();
    await page.getByText("Told to those who look after the server.").waitFor();
    await page.getByText("Runs that are due").waitFor();
    expect(await page.locator(".plot canvas").count()).toBe(3);
    expect(await page.getByText(/^Store: /).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Workers" }).count()).toBe(0);
  });

  test("E4: draws no years around what it has seen for seconds", async () => {
    const page = await open("/dashboard");
    // What stands at the axes is painted, and in no element.
    await page.addInitScript(`globalThis.painted = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        painted.push(text);
        return fillText.call(this, text, ...where);
      };`);
    await page.reload();
    const painted = () => page.evaluate<string[]>("painted");
    await expect.poll(async () => (await painted()).join(" ")).toMatch(/:\d\d/);
    await page.waitForTimeout(500);
    expect((await painted()).filter((text) => /^20\d\d$/.test(text))).toEqual([]);
  });

  test("E4: figures stand in rows of the same length at every width", async () => {
    const page = await open("/dashboard");
    await page.locator(".figure").first().waitFor();
    for (const width of [360, 390, 520, 640, 768, 900, 1_024, 1_200, 1_360, 1_600, 1_920]) {
      await page.setViewportSize({ width, height: 850 });
      const tops = await page.evaluate<number[]>(
        `[...document.querySelectorAll(".figure")].map((figure) => Math.round(figure.getBoundingClientRect().top))`,
      );
      const rows = Map.groupBy(tops, (top) => top);
      const lengths = new Set([...rows.values()].map((row) => row.length));
      expect([width, ...lengths]).toHaveLength(2);
    }
  });

  test("E4: plots tell their newest values, and those under the pointer", async () => {
    const page = await open("/dashboard");
    const legend = page.locator(".plot-legend").first();
    await legend.getByText("newest").waitFor();
    expect(await legend.innerText()).toMatch(/steps\s*[\d.,]+/);
    // Where something was seen, which is at the end.
    const { x, y, width, height } = (await page.locator(".plot").first().boundingBox()) ?? {
      ...{ x: 0, y: 0, width: 0, height: 0 },
    };
    await page.mouse.move(x + width * 0.9, y + height / 2);
    await legend.getByText(/\d\d:\d\d:\d\d/).waitFor();
    await page.mouse.move(0, 0);
    await legend.getByText("newest").waitFor();
  });

  test("E4: tells what the store takes with its log", async () => {
    const page = await open("/dashboard");
    const figure = page.locator(".figure", { hasText: "Store: sqlite" });
    // A hundred thousand steps are no few kilobytes, wherever they are kept.
    expect(await figure.innerText()).toMatch(/[\d.]+ MB/);
  });

  test("E4: lists machines, and shows a version with its diagram and its definition", async () => {
    const page = await open("/machines");
    await page.getByRole("link", { name: "order", exact: true }).click();
    await page.getByRole("heading", { name: "order" }).waitFor();
    await page.locator('.box[data-state="preparing.goods"]').waitFor();
    await page.getByRole("link", { name: /^1 active/ }).click();
    expect(queryOf(page).get("version")).toBe("1");
    await page.getByRole("tab", { name: "Mermaid" }).click();
    await page.getByText("stateDiagram-v2").waitFor();
  });

  test("E4: starts a run with a form made from its input", async () => {
    const page = await open("/machines/order");
    await page.getByRole("textbox", { name: "Name" }).fill("started-here");
    await page.getByRole("textbox", { name: "item" }).fill("compass");
    await page.getByRole("spinbutton", { name: "euros" }).fill("70");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("heading", { name: "started-here" }).waitFor();
    await page.getByText('"compass"').waitFor();
  });
});
