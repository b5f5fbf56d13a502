/** The snippets of the guide need a server, so they are run here: as they stand, in a process of their own. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createDatabase } from "../../../test/postgres/database.ts";
import { read, root } from "../../../test/project.ts";

const driver = `
import { watchOrders } from "./snippet-0.ts";
import { decide } from "./snippet-1.ts";
import { stopWatching } from "./snippet-2.ts";
import pg from "pg";

const url = process.argv[2];
const pool = new pg.Pool({ connectionString: url });
await pool.query("CREATE TABLE public.orders (id int, status text, amount numeric)");
const { runtime, changes } = await watchOrders(url);
await pool.query("INSERT INTO public.orders VALUES (1, 'open', 12.50), (2, 'open', 1)");
await pool.query("UPDATE public.orders SET status = 'paid' WHERE id = 1");
while ((await changes.status()).waiting > 0);
const { output } = await (await runtime.run("order-1")).finished();
const { waiting, failed, unknown, problem } = await decide(changes);
await changes.close();
await runtime.close();
await stopWatching(url);
const left = (await pool.query("SELECT count(*)::int AS n FROM pg_trigger WHERE NOT tgisinternal")).rows[0].n;
await pool.end();
console.log(JSON.stringify({ output, waiting, failed, unknown, problem: problem ?? null, left }));`;

test("D3: the guide's snippets do what the guide says", async () => {
  const database = await createDatabase();
  mkdirSync(join(root, "coverage"), { recursive: true });
  const folder = mkdtempSync(join(root, "coverage", "changes-"));
  try {
    const blocks = [...read("docs/guide/table-changes.md").matchAll(/^```ts\n(.*?)^```$/gms)];
    const source = JSON.stringify(join(root, "src/runtime/changes/index.ts"));
    for (const [index, [, code = ""]] of blocks.entries())
      writeFileSync(join(folder, `snippet-${index}.ts`), code.replaceAll('"holdfast/changes"', source));
    writeFileSync(join(folder, "driver.ts"), driver);
    const given = ["--conditions=holdfast-source", join(folder, "driver.ts"), database.url];
    const { stdout } = await promisify(execFile)(process.execPath, given);
    expect(JSON.parse(stdout)).toEqual({
      ...{ output: "12.50", waiting: 0, failed: 0, unknown: [], problem: null, left: 0 },
    });
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
});
