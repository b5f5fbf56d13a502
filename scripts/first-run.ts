/**
 * `npm run first-run`: how long a person waits. In an empty folder: a fresh clone, `npm install`, `npm start`, until a run in the
 * page of a real browser has taken a step. Tells each part in seconds; nothing is judged by it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findProgram } from "../test/lanes.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "holdfast-first-run-"));
const clone = join(folder, "holdfast");
const began = performance.now();
let last = began;

function tell(what: string): void {
  const now = performance.now();
  console.log(`${((now - last) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  last = now;
}

/** The address that a process prints once it is up. */
function addressOf(started: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let said = "";
    started.stdout?.on("data", (piece: Buffer) => {
      said += piece.toString();
      const [, address] = /^up: (\S+)$/m.exec(said) ?? [];
      if (address !== undefined) found(address);
    });
    started.once("exit", (code) => failed(new Error(`npm start ended with ${code}: ${said}`)));
  });
}

execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone]);
tell("git clone");
execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: clone, stdio: "inherit" });
tell("npm install");
const started = spawn("npm", ["start", "--silent", "--", "--port", "0", "--no-open"], {
  cwd: clone,
  stdio: ["ignore", "pipe", "inherit"],
  detached: true,
});
try {
  const address = await addressOf(started);
  tell("npm start, until it is up (Studio is built)");
  const executablePath = findProgram("chromium");
  if (executablePath === undefined) throw new Error("There is no chromium to look with");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  await page.goto(address);
  await page.getByText("delivery-").first().waitFor();
  tell("until the browser shows a run that moves");
  await browser.close();
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  in all`);
} finally {
  process.kill(-(started.pid as number), "SIGTERM");
  await new Promise((ended) => started.once("exit", ended));
  rmSync(folder, { recursive: true, force: true });
}
