/**
 * `npm run screenshots`: the pictures of Studio under `docs/images`, in light and dark, of runs that really ran. Needs
 * Chromium on the PATH, or a Debian on which it may be installed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Client } from "../src/client/index.ts";
import { browserOptions } from "../test/e2e/browser-options.ts";
import { buildStudio } from "../test/e2e/build.ts";
import { freePort, ServerProcess, token } from "../test/e2e/process.ts";
import { setStage } from "../test/e2e/stage.ts";
import { findProgram, haveAll, howToInstall } from "../test/lanes.ts";

/** The name of the picture, the page, what must be there before it is taken, and what is done first. */
const pictures: readonly {
  readonly name: string;
  readonly path: string;
  readonly sign: string;
  readonly before?: (page: Page) => Promise<unknown>;
}[] = [
  { name: "runs", path: "/runs", sign: "text=order-2" },
  { name: "run", path: "/runs/order-2", sign: ".box[data-lit=true]" },
  {
    name: "travel",
    path: "/runs/order-2?at=2&tab=diff&from=1",
    sign: ".difference",
    before: (page) => page.locator(".box[data-lit=true]").first().waitFor(),
  },
  {
    name: "fork",
    path: "/runs/order-2?at=2",
    sign: "text=Would run again",
    before: (page) => page.keyboard.press("f"),
  },
  { name: "conversation", path: "/runs/support-1?view=conversation", sign: "text=The boots leak" },
  { name: "board", path: "/runs/desk-1?view=board", sign: "text=Kelp holds on" },
  { name: "plan", path: "/runs/voyage-1?view=plan", sign: "text=Critical path" },
  { name: "inbox", path: "/inbox", sign: "text=Approve" },
  { name: "machine", path: "/machines/order", sign: ".box" },
];

const folder = join(import.meta.dirname, "../docs/images");
const themes = ["light", "dark"] as const;

async function take(page: Page, url: string, theme: string): Promise<void> {
  for (const { name, path, sign, before } of pictures) {
    await page.goto(url + path);
    await page.locator("main h1").first().waitFor();
    await page.waitForTimeout(300);
    await before?.(page);
    await page.locator(sign).first().waitFor();
    // Until the layout stands and what moves has come to rest.
    await page.waitForTimeout(2_500);
    await page.screenshot({ path: join(folder, `studio-${name}-${theme}.png`) });
  }
}

/** Two minutes of a day: it rises and falls, most of it works, and some of it fails. */
async function live(client: Client): Promise<void> {
  for (let second = 0; second < 120; second++) {
    const begun = performance.now();
    const ticks = Math.round(18 + 12 * Math.sin(second / 11) + 5 * Math.sin(second / 3));
    const events = Array.from({ length: ticks }, () => ({ type: "tick" }));
    await client.runs.send({ run: "counter-1", events, wait: "handled" });
    if (second % 4 === 0) {
      const run = `order-${second + 100}`;
      await client.runs.start({ run, machine: "order", input: { item: "rope", euros: 20 } });
    }
    if (second % 30 === 7) await client.runs.start({ run: `fragile-${second}`, machine: "fragile" });
    await sleep(Math.max(0, 1_000 - (performance.now() - begun)));
  }
}

/** The dashboard is open while all of it happens, as its lines begin with it. */
async function takeDashboards(browser: Browser, { url, client }: ServerProcess): Promise<void> {
  const pages = await Promise.all(themes.map((theme) => openPage(browser, url, theme)));
  for (const page of pages) await page.goto(`${url}/dashboard`);
  await live(client);
  for (const [index, page] of pages.entries())
    await page.screenshot({ path: join(folder, `studio-dashboard-${themes[index]}.png`) });
}

async function openPage(browser: Browser, url: string, colorScheme: (typeof themes)[number]): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 }, colorScheme });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/?token=${token}`);
  return page;
}

haveAll(["chromium"]);
const program = findProgram("chromium");
if (program === undefined) throw new Error(howToInstall("chromium"));
mkdirSync(folder, { recursive: true });
buildStudio();
const server = new ServerProcess(await freePort());
await server.start();
await setStage(server.client);
const browser = await chromium.launch(browserOptions(program));
for (const theme of themes) {
  const page = await openPage(browser, server.url, theme);
  await take(page, server.url, theme);
  await page.close();
}
await takeDashboards(browser, server);
await browser.close();
await server.close();
console.log(`${(pictures.length + 1) * themes.length} pictures in ${folder}`);
