/** One contestant on one workload, on a fresh file in a process of its own: prints its figures as JSON. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdfast } from "./holdfast.ts";
import { raw } from "./raw.ts";
import { type Contestant, workloads } from "./workload.ts";

const contestants: Readonly<Record<string, Contestant>> = { "raw node:sqlite": raw, holdfast };
const [name = "", workload = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
try {
  const path = join(folder, "bench.db");
  const on = await (contestants[name] as Contestant).open(path);
  const figures = await (workloads[workload] as (typeof workloads)[string])(on);
  await on.close();
  console.log(JSON.stringify({ ...figures, bytes: statSync(path).size }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
