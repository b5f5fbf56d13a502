/** Scrubbing as people feel it, in Chromium: the handle dragged over a whole run, and an arrow key held. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { browserOptions } from "../../test/e2e/browser-options.ts";
import { buildStudio } from "../../test/e2e/build.ts";
import { findProgram, howToInstall } from "../../test/lanes.ts";
import { columns, median } from "../process.ts";
import { postAt } from "./patrol.ts";
import { type Watched, watchScript } from "./watch.ts";

export interface ScrubOptions {
  readonly url: string;
  /** Makes the run that is scrubbed. */
  readonly makeRun: () => Promise<unknown>;
  readonly steps: number;
  /** How often the handle is dragged, and the key held. */
  readonly times: number;
}

/** As often as a mouse tells where it is on a screen of 60 pictures a second; keys repeat half as often. */
const moveMs = 16;
const repeatMs = 33;

/** What people feel as smooth: two pictures of 60 a second at the most for one, nothing that hangs, and no wait at the end. */
const goals = { frameMs: 34, taskMs: 100, shownMs: 100 };

export async function benchScrub({ url, makeRun, steps, times }: ScrubOptions): Promise<void> {
  const program = findProgram("chromium");
  if (program === undefined) {
    console.error(`Scrubbing is not measured: ${howToInstall("chromium")}`);
    return;
  }
  buildStudio();
  console.error(`a run of ${steps} steps to scrub …`);
  await makeRun();
  const browser = await chromium.launch(browserOptions(program));
  try {
    await measure(browser, url, steps, times);
  } finally {
    await browser.close();
  }
}

async function measure(browser: Browser, url: string, steps: number, times: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  page.setDefaultTimeout(60_000);
  await page.addInitScript(watchScript);
  await page.goto(`${url}/?token=bench`);
  const opened: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    await page.goto(`${url}/runs/patrol`);
    await page.locator(`.step[data-seq="${steps}"] .step-type`).waitFor();
    await page.locator(".box[data-lit=true]").first().waitFor();
    opened.push(performance.now() - from);
  }
  // Once of each first, so that nobody is measured cold.
  await drag(page, 0.5);
  await hold(page, "ArrowLeft");
  const drags: Watched[] = [];
  const holds: Watched[] = [];
  for (let round = 0; round < times; round++) {
    console.error(`movement ${round + 1} of ${times} …`);
    // Ends are spread over the run, and none is gone to twice.
    drags.push(await drag(page, ((round * 0.618_034) % 1) * 0.9 + 0.05));
    holds.push(await hold(page, round % 2 === 0 ? "ArrowLeft" : "ArrowRight"));
  }
  const heads = ["frames", "p50", "p95", "longest", "long tasks", "longest", "stop to shown p50", "p95"];
  const [dragged, held] = [figuresOf(drags), figuresOf(holds)];
  const rows = [
    [`a run of ${steps} steps`, ...heads],
    ["the handle dragged", ...cells(dragged)],
    ["an arrow key held", ...cells(held)],
  ];
  console.log(`\n${columns(rows)}`);
  console.log(
    `\nit opened in ${median(opened.slice(1)).toFixed(0)} ms, at first in ${opened[0]?.toFixed(0)} ms`,
  );
  for (const [name, { frames, tasks, shown }] of [["drag", dragged] as const, ["hold", held] as const]) {
    const isKept = frames.p95 <= goals.frameMs && tasks.longest <= goals.taskMs && shown.p95 <= goals.shownMs;
    console.log(`${name}: ${isKept ? "smooth" : "not smooth"}`);
  }
}

/** From where the handle is to one end of the line, to the other, and to a place in between, in about two seconds. */
async function drag(page: Page, end: number): Promise<Watched> {
  const line = await page.locator(".scrubber input").boundingBox();
  if (line === null) throw new Error("There is no tide line");
  const value = await page.locator(".scrubber input").evaluate((input) => {
    const { value, min, max } = input as unknown as { value: string; min: string; max: string };
    return (Number(value) - Number(min)) / (Number(max) - Number(min));
  });
  // The handle's middle stays half its width inside the line.
  const xOf = (share: number) => line.x + 8 + share * (line.width - 16);
  const y = line.y + line.height / 2;
  await page.mouse.move(xOf(value), y);
  await page.mouse.down();
  const stops = [value, 0.02, 0.98, end];
  await beginWatch(page);
  for (let leg = 1; leg < stops.length; leg++)
    await paced(40, moveMs, (index) => {
      const [from, to] = [stops[leg - 1] as number, stops[leg] as number];
      return page.mouse.move(xOf(from + ((to - from) * (index + 1)) / 40), y);
    });
  const watched = await endWatch(page);
  await page.mouse.up();
  return watched;
}

async function hold(page: Page, key: string): Promise<Watched> {
  await page.locator(".timeline h2").click();
  await beginWatch(page);
  await paced(60, repeatMs, () => page.keyboard.down(key));
  const watched = await endWatch(page);
  await page.keyboard.up(key);
  return watched;
}

const beginWatch = (page: Page) =>
  page.evaluate(`globalThis.watching = watch(${JSON.stringify([1, 2, 3, 4].map(postAt))}); undefined`);
const endWatch = (page: Page) => page.evaluate<Watched>("watching.end()");

/** So many times, this long after another. A hand does not wait for what it moves, and neither does this. */
async function paced(count: number, ms: number, act: (index: number) => Promise<unknown>): Promise<void> {
  const from = performance.now();
  const acts: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    acts.push(act(index));
    await sleep(Math.max(0, from + (index + 1) * ms - performance.now()));
  }
  await Promise.all(acts);
}

interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly longest: number;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { count: sorted.length, p50: share(0.5), p95: share(0.95), longest: share(1) };
}

const figuresOf = (watched: readonly Watched[]) => ({
  frames: spreadOf(watched.flatMap((one) => one.frames)),
  tasks: spreadOf(watched.flatMap((one) => one.tasks)),
  shown: spreadOf(watched.map((one) => one.stopToShownMs)),
});

function cells({ frames, tasks, shown }: ReturnType<typeof figuresOf>): readonly string[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return [
    ...[String(frames.count), ms(frames.p50), ms(frames.p95), ms(frames.longest)],
    ...[String(tasks.count), tasks.count === 0 ? "–" : ms(tasks.longest), ms(shown.p50), ms(shown.p95)],
  ];
}
