/** One browser and one server with runs of every status, for all end-to-end tests. */
import { type BrowserServer, chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findProgram, haveAll } from "../lanes.ts";
import { browserOptions } from "./browser-options.ts";
import { buildStudio } from "./build.ts";
import { freePort, ServerProcess } from "./process.ts";
import { setStage } from "./stage.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the browser listens; empty where there is none. */
    browser: string;
    url: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const tell = haveAll(["chromium"]);
  const path = findProgram("chromium");
  if (path === undefined) {
    project.provide("browser", "");
    project.provide("url", "");
    return async () => tell();
  }
  buildStudio();
  const server = new ServerProcess(await freePort(), ["--steps", "100000"]);
  await server.start();
  await setStage(server.client);
  const browser: BrowserServer = await chromium.launchServer(browserOptions(path));
  project.provide("browser", browser.wsEndpoint());
  project.provide("url", server.url);
  return async () => {
    await browser.close();
    await server.close();
    tell();
  };
}
