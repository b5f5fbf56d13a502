/** The durable example, as a process: it is killed, goes on, and its ledger agrees with its journal. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "./project.ts";

const run = promisify(execFile);

test("npm run start:durable: an agent that is killed three times finishes, and each result is applied once", {
  timeout: 60_000,
}, async () => {
  const { stdout } = await run(process.execPath, ["--conditions=source", "examples/durable/start.ts"], {
    cwd: root,
  });
  expect(stdout.match(/✗ killed with SIGKILL/g)).toHaveLength(3);
  expect(stdout).toMatch(/resumed at step \d+ in researching/);
  expect(stdout).toContain("finished in published");
  expect(stdout).toContain("Each tool's result was applied exactly once.");
});
