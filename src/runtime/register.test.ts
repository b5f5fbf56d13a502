/** Machines that come while the runtime runs: written by whomever, read as data, and stepped like any other. */
import { expect, test } from "vitest";
import { counter, counterWith } from "../../test/runtime/machines.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import { loadMachine } from "../data/index.ts";
import { defineMigration } from "../index.ts";

const refund = (limit: number, version = 1) => `
id: refund
version: ${version}
context: { type: object, additionalProperties: false, required: [limit], properties: { limit: { type: number }, amount: { type: number } } }
start: { limit: ${limit} }
events:
  decide: { type: object, additionalProperties: false, required: [amount], properties: { amount: { type: number } } }
initial: reviewing
states:
  reviewing:
    on:
      decide:
        - guard: { cel: "event.data.amount <= context.limit" }
          target: approved
          update: { amount: { cel: "event.data.amount" } }
        - target: refused
  approved: { type: final }
  refused: { type: final }
`;

onEveryStore((world) => {
  test("A7: a machine as data is registered while the runtime runs, steps, and refuses what does not fit", async () => {
    const { boot, rest } = await world();
    const runtime = await boot([counter]);
    const machine = loadMachine(refund(100));
    runtime.register(machine);
    const run = await runtime.start(machine, { id: "a" });
    const bad = await run.send("decide", { amount: 5, extra: true } as never);
    expect(await bad.handled()).toMatchObject({ outcome: "refused", error: { code: "EVENT_INVALID" } });
    await run.send("decide", { amount: 5 });
    await rest();
    expect(await run.finished()).toMatchObject({ status: "done", state: "approved" });
  });

  test("A7: the same machine again changes nothing, and another one needs another version", async () => {
    const { boot } = await world();
    const runtime = await boot([counter]);
    runtime.register(loadMachine(refund(100)));
    runtime.register(loadMachine(refund(100)));
    expect(() => runtime.register(loadMachine(refund(200)))).toThrow("give the new one another version");
    runtime.register(loadMachine(refund(200, 2)));
    const run = await runtime.start(loadMachine(refund(200, 2)), { id: "a" });
    expect((await run.state()).context).toEqual({ limit: 200 });
  });

  test("F5: a machine whose name stores cannot keep is refused, and changes nothing", async () => {
    const { boot } = await world();
    const runtime = await boot([counter]);
    for (const id of ["a\0b", "\ud800", "x".repeat(513)])
      expect(() => runtime.register(counterWith({ id }))).toThrow("cannot be used");
    expect((await runtime.start(counter, { id: "a" })).id).toBe("a");
  });

  test("a machine with a migration of another, or to where it begins, is refused, and changes nothing", async () => {
    const { boot } = await world();
    const [second, other] = [counterWith({ version: 2 }), counterWith({ id: "other" })];
    const foreign = defineMigration(other, counterWith({ id: "other", version: 2 }), {});
    const nowhere = defineMigration(second, second, {});
    const runtime = await boot([counter]);
    for (const [migration, said] of [
      [foreign, "other@1 to other@2"],
      [nowhere, "counter@2 to counter@2"],
    ] as const) {
      const entry = { machine: second, migrations: [migration] };
      expect(() => runtime.register(entry)).toThrow(said);
      await expect(boot([counter, entry])).rejects.toMatchObject({ code: "MIGRATION_INVALID" });
    }
    expect(runtime.machines.list().map(({ version }) => version)).toEqual([1]);
    runtime.register({ machine: second, migrations: [defineMigration(counter, second, {})] });
  });

  test("A7: runs whose machine was not there go on once it is", async () => {
    const { boot, crash, clock } = await world();
    const other = counterWith({ id: "other" });
    const first = await boot([other]);
    await (await first.start(other, { id: "a" })).send("nap");
    await crash(first);
    const second = await boot([counter]);
    await clock.advance("5m");
    await expect(second.run("a")).rejects.toMatchObject({ code: "MACHINE_UNKNOWN" });
    second.register(other);
    await clock.advance(0);
    expect((await (await second.run("a")).state()).configuration).toEqual(["open"]);
  });
});
