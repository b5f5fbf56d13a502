/** A page of Studio in the browser, and what must never happen on one: an error in the console. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { token } from "./process.ts";

/** Whether there is a browser to test in. */
export const hasBrowser: boolean = inject("browser") !== "";
export const url: string = inject("url");
export const client: Client = createClient({ url: url === "" ? "http://127.0.0.1" : url, key: token });

let browser: Browser;
const pages: Page[] = [];
let errors: string[] = [];
/** What the server is asked for and refuses is told by the console too; tests that refuse say so. */
let allowed: RegExp | undefined;

export interface OpenOptions extends BrowserContextOptions {
  readonly at?: string;
  /** Comes without the token. */
  readonly isStranger?: boolean;
  /** Errors in the console that belong to the test. */
  readonly allow?: RegExp;
}

/** Opens a path as somebody who was let in would, and waits until something is there. */
export async function open(
  path: string,
  { at = url, allow, isStranger = false, ...options }: OpenOptions = {},
): Promise<Page> {
  allowed = allow;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  pages.push(page);
  if (!isStranger) await page.goto(`${at}/?token=${token}`);
  await page.goto(at + path);
  await page.locator("main :is(h1, h2)").first().waitFor();
  return page;
}

/** Registers what every file needs: the browser, and that no page said an error. */
export function usePages(): void {
  beforeAll(async () => {
    browser = await chromium.connect(inject("browser"));
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
    const unexpected = errors.filter((error) => allowed?.test(error) !== true);
    errors = [];
    allowed = undefined;
    expect(unexpected).toEqual([]);
  });
  afterAll(() => browser.close());
}

/** The part of the link after the path. */
export const queryOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams;
