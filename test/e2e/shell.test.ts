/** What is on every page: navigation, themes, the palette, keys, links, and that everybody can use it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { client, hasBrowser, open, url, usePages } from "./page.ts";
import { token } from "./process.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds wrong, in short. */
async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const violations = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** Of all runs only the newest are in sight, and which those are depends on who was here before. */
const fewRuns = "/runs?subject=ada";

const views: readonly (readonly [string, string])[] = [
  [fewRuns, "text=order-1"],
  ["/runs/order-2", ".box[data-lit=true]"],
  ["/runs/order-2?tab=events", "text=Send"],
  ["/runs/order-2?at=2&tab=diff", "text=differences"],
  ["/runs/support-1?view=conversation", "text=The boots leak"],
  ["/runs/desk-1?view=board", "text=Kelp holds on"],
  ["/runs/voyage-1?view=plan", "text=set sail"],
  ["/inbox", "text=Approve"],
  ["/machines", "text=counter"],
  ["/machines/order", ".box"],
  ["/dashboard", "text=Throughput"],
];

describe.skipIf(!hasBrowser)("Studio everywhere", () => {
  usePages();

  test("goes from page to page by links and by keys", async () => {
    const page = await open("/");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.getByRole("link", { name: "Machines" }).click();
    await page.getByRole("heading", { name: "Machines" }).waitFor();
    await page.keyboard.press("4");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await page.keyboard.press("2");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
  });

  test("shows light and dark as the system has it or as was chosen, and remembers", async () => {
    const page = await open("/machines", { colorScheme: "dark" });
    const theme = () => page.evaluate("document.documentElement.dataset.theme");
    expect(await theme()).toBe("dark");
    await page.getByRole("button", { name: /^Theme: System/ }).click();
    expect(await theme()).toBe("light");
    await page.reload();
    expect(await theme()).toBe("light");
    await page.getByRole("button", { name: /^Theme: Light/ }).click();
    expect(await theme()).toBe("dark");
  });

  test("finds a run by a part of its name in the palette", async () => {
    const page = await open("/dashboard");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find anything" }).fill("support-1");
    await page
      .getByRole("option", { name: /support-1/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "support-1" }).waitFor();
  });

  test("shows what the keys of a page do", async () => {
    const page = await open("/runs/order-2");
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keys" });
    await dialog.getByText("One step back").waitFor();
    await dialog.getByText("Fork from this step").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("says what to do where there is nothing", async () => {
    const page = await open("/runs?machine=nothing");
    await page.getByText("No run matches").waitFor();
    await page.goto(page.url().replace(/\/runs.*/, "/nowhere"));
    await page.getByText("There is no such page").waitFor();
    await page.getByText("holdfast runs list").waitFor();
  });

  test("a run that is not there is told, with the way back", async () => {
    const page = await open("/runs/nobody", { allow: /404/ });
    await page.getByText("There is no run “nobody”").waitFor();
  });

  test("asks a stranger for a key, and lets in who has one", async () => {
    const page = await open(fewRuns, { isStranger: true, allow: /401/ });
    await page.getByRole("status").getByText("No access").waitFor();
    await page.getByLabel("Key").fill(token);
    await page.getByRole("button", { name: "Come in" }).click();
    await page.getByRole("link", { name: "order-1", exact: true }).waitFor();
    await page.getByRole("status").getByText("Live").waitFor();
  });

  test("a link opens again whatever its run is called", async () => {
    await client.runs.start({ run: "named.v1", machine: "counter" });
    const page = await open("/runs/named.v1");
    await page.reload();
    await page.getByRole("heading", { name: "named.v1" }).waitFor();
  });

  test("copies a run as curl and as a command", async () => {
    const page = await open("/runs/order-2");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("menuitem", { name: "Copy as curl" }).click();
    const copied = () => page.evaluate("navigator.clipboard.readText()");
    expect(await copied()).toContain("/v1/runs/order-2");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("menuitem", { name: "Copy as CLI: show" }).click();
    expect(await copied()).toBe(`holdfast runs show order-2 --url ${url} --api-key ${token}`);
  });

  test("fits a phone: no page is wider than the screen", async () => {
    const page = await open("/runs", { viewport: { width: 390, height: 844 } });
    const wide: string[] = [];
    for (const [path, sign] of views) {
      await page.goto(new URL(path, page.url()).href);
      await page.locator(sign).filter({ visible: true }).first().waitFor();
      const over = await page.evaluate<number>(`Math.max(
        document.documentElement.scrollWidth - innerWidth,
        ...[...document.querySelectorAll("main, .inspector-body, .talk-messages, .timeline-box")]
          .map((box) => box.scrollWidth - box.clientWidth))`);
      if (over > 0) wide.push(`${path} by ${over} px`);
    }
    expect(wide).toEqual([]);
    await page.goto(new URL(fewRuns, page.url()).href);
    await page.getByRole("link", { name: "order-1", exact: true }).click();
    await page.getByRole("heading", { name: "order-1" }).waitFor();
  });

  test.each(["light", "dark"] as const)("has no barriers that axe can find, in %s", async (colorScheme) => {
    const page = await open("/runs", { colorScheme, reducedMotion: "reduce" });
    const found: string[] = [];
    for (const [path, sign] of views) {
      await page.goto(new URL(path, page.url()).href);
      await page.locator(sign).first().waitFor();
      found.push(...(await barriers(page)).map((barrier) => `${path} ${barrier}`));
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    found.push(...(await barriers(page)));
    expect(found).toEqual([]);
  });
});
