/** What nearly every process does with the package, for `eager.ts` to watch: a conversation on SQLite, opened again and gone on with. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const built = pathToFileURL(`${process.argv[2]}/`);
const { createRuntime, defineMachine, freezeStates }: typeof import("../src/index.ts") = await import(
  new URL("index.js", built).href
);
const { sqlite }: typeof import("../src/store/sqlite/store.ts") = await import(
  new URL("store/sqlite/store.js", built).href
);

freezeStates(false);
const chat = defineMachine<{ messages: string[] }>({
  id: "chat",
  start: () => ({ messages: [] }),
  initial: "open",
  states: {
    open: { on: { say: { update: (draft, { event }) => void draft.messages.push(event.data as string) } } },
  },
});

const folder = mkdtempSync(join(tmpdir(), "holdfast-first-"));
// The second time there are a snapshot and entries to read.
for (const life of [1, 2]) {
  const runtime = await createRuntime({ store: sqlite(join(folder, "runs.db")), machines: [chat] });
  const run = await runtime.start(chat, { id: "talk" });
  for (let turn = 0; turn < 100; turn++) await run.send("say", `${life}: ${"kelp ".repeat(80)}`);
  await (await runtime.run("talk")).state();
  await runtime.close();
}
rmSync(folder, { recursive: true });
