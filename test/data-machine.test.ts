/** Machines as data on the durable runtime: as YAML from outside, with events, timers, activities and restarts. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { loadMachine, writeYaml } from "../src/data/index.ts";
import type { MachineEntry } from "../src/index.ts";
import { root } from "./project.ts";
import { refund } from "./refund.ts";
import { onEveryStore } from "./runtime/world.ts";

const summary = `
id: summary
input: { type: object, required: [pages], properties: { pages: { type: array, items: { type: string } } } }
context:
  type: object
  required: [pages, done]
  properties: { pages: { type: array, items: { type: string } }, done: { type: array, items: { type: string } } }
activities:
  summarise: { input: { type: object, required: [page], properties: { page: { type: string } } }, output: { type: string } }
start: { pages: { cel: input.pages }, done: [] }
initial: next
states:
  next:
    always:
      - { guard: { cel: "size(context.done) < size(context.pages)" }, target: reading }
      - target: finished
  reading:
    invoke:
      activity: summarise
      input: { page: { cel: "context.pages[size(context.done)]" } }
      onDone: { target: next, update: { done: { cel: "context.done + [event.data]" } } }
      onError: failed
  finished: { type: final, output: { text: { cel: "context.done.join(' ')" } } }
  failed: { type: final }
`;

onEveryStore((world) => {
  test("A5: the refund machine takes events, waits for its timer and goes on after a restart", async () => {
    const { boot, crash, clock } = await world();
    const machine = loadMachine(refund);
    const runtime = await boot([machine]);
    const run = await runtime.start(machine, { id: "a" });
    await run.send("decide", { amount: 500 });
    expect((await run.state()).configuration).toEqual(["escalated"]);
    await crash(runtime);
    // While nobody is there, so that no lease is renewed for a day.
    await clock.advance(86_400_000 - 60_000);
    // The next process reads the definition anew, as it was written; it is the same machine to the store.
    const again = loadMachine(writeYaml(machine));
    const after = await (await boot([again])).run("a");
    expect((await after.state()).configuration).toEqual(["escalated"]);
    await clock.advance("1 min");
    expect((await after.state()).configuration).toEqual(["expired"]);
  });

  test("A5: activities are given what expressions say, and what they give is worked into the context", async () => {
    const { boot } = await world();
    const machine = loadMachine(summary);
    const entry: MachineEntry = {
      machine,
      activities: { summarise: async (input) => (input as { page: string }).page.toUpperCase() },
    };
    const run = await (await boot([entry])).start(machine, { id: "a", input: { pages: ["one", "two"] } });
    expect(await run.finished()).toMatchObject({ output: { text: "ONE TWO" } });
  });
});

test("A5: the example tells what is wrong with a first try, and runs the second", () => {
  const command = ["--conditions=holdfast-source", "examples/data-machine.ts"];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(0, 2).join(" ")),
  ).toEqual([
    "✗ states.calm.on.report[0].guard",
    "✗ states.calm.on.report[0].update.urgnt",
    "✗ states.calm.on.report[0].target",
    "✓ alarm",
  ]);
});
