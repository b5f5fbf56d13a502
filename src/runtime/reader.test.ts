import { expect, test } from "vitest";
import { counter } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { openReader } from "./reader.ts";

onEveryStore((world) => {
  test("a reader finds runs and their steps while another process owns them, and disturbs nothing", async () => {
    const { boot, place, stored } = await world();
    const runtime = await boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    await run.send("add", 2);
    await run.send("add", 3);
    const before = await stored("a");
    const reader = await openReader({ store: place.connect() });
    expect((await listOf(reader.find())).map((head) => head.run)).toEqual(["a"]);
    const steps = await listOf(reader.steps("a"));
    expect(steps.map(({ entry }) => entry.event.type)).toEqual(["start", "add", "add"]);
    expect(steps.at(-1)?.state).toEqual(await run.state());
    expect(await stored("a")).toEqual(before);
    await run.send("add", 1);
    expect(await listOf(reader.steps("a"))).toHaveLength(4);
  });

  test("a reader says which run is not there", async () => {
    const { boot, place } = await world();
    await boot([counter]);
    const reader = await openReader({ store: place.connect() });
    await expect(listOf(reader.steps("b"))).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await expect(listOf(reader.steps(""))).rejects.toMatchObject({ code: "NAME_INVALID" });
  });
});
