/**
 * A server process for end-to-end tests and screenshots: SQLite, the machines beside this file, and Studio. It is told its
 * folder and its port, so that one that was killed can be started again as it was. Says `ready` once it listens. With
 * `--steps N` there is a run `long` of so many steps before that.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createServer, serve } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { counter, machines } from "./machines.ts";

const [folder = ".", port = "0", token = "token", ...rest] = process.argv.slice(2);
const steps = rest[0] === "--steps" ? Number(rest[1]) : 0;
const file = join(folder, "studio.db");
const store = sqlite(file);
const runtime = await createRuntime({ store, machines: machines as never, profile: true });
if (steps > 0) {
  const run = await runtime.start(counter as never, { id: "long" });
  const ticks = Array.from({ length: 1_000 }, () => ({ type: "tick" }));
  const missing = steps - (await run.head()).seq;
  for (let sent = 0; sent < missing; sent += ticks.length)
    await (await run.sendAll(ticks.slice(0, missing - sent))).at(-1)?.handled();
}
/** The file and its log, which holds what was not moved into the file yet. */
const storeBytes = () =>
  [file, `${file}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
const server = await createServer({
  ...{ runtime, store, dev: { token }, version: "0.1.0" },
  studio: join(import.meta.dirname, "../../studio/dist"),
  ...{ storeKind: "sqlite", storeBytes: async () => storeBytes() },
  rate: { perSecond: 2_000, burst: 4_000 },
  onError: (error) => console.error(error),
});
const { url } = await serve(server, { port: Number(port) });
console.log(`ready ${url}`);
