/** A map over a list, durably: whatever crashes on the way, every item is settled once, and results stay in order. */
import { expect, test } from "vitest";
import { onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine, type Json } from "../index.ts";

const letters = ["a", "b", "c", "d", "e", "f", "g"];

const machine = defineMachine<{ list: string[]; kept: Json; failures: Json }>({
  id: "mapper",
  start: { list: letters, kept: null, failures: null },
  initial: "going",
  states: {
    going: {
      map: {
        over: ({ context }) => context.list,
        as: "letter",
        activity: "shout",
        input: ({ event }) => event.data.letter,
        ...{ concurrency: 3, tolerate: 1, collect: { results: "kept", failures: "failures" } },
        ...{ onDone: "done", onError: "failed" },
      },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
});

onEveryStore((world) => {
  test("B2: a map goes on after a crash at every one of its items, and settles each once", async () => {
    const here = await world();
    const begun: string[] = [];
    /** Settles `count` items and then hangs, as if the process had been busy when it died. */
    const shout = (count: number) => {
      let left = count;
      return (letter: string) => {
        begun.push(letter);
        if (left-- <= 0) return new Promise<never>(() => {});
        if (letter === "d") throw new Error("too loud");
        return letter.toUpperCase();
      };
    };
    const boot = (count: number) => here.boot([{ machine, activities: { shout: shout(count) } }]);
    let runtime = await boot(0);
    await runtime.start(machine, { id: "run" });
    await here.rest();
    expect(begun).toEqual(["a", "b", "c"]);
    for (let life = 0; life < letters.length - 1; life++) {
      await here.crash(runtime);
      runtime = await boot(1);
      await here.rest();
      await here.clock.advance(0);
    }
    await here.crash(runtime);
    runtime = await boot(letters.length);
    const run = await runtime.run("run");
    expect(await run.finished()).toMatchObject({ status: "done" });
    const { context, ...state } = await run.state();
    expect(context).toEqual({
      list: letters,
      kept: ["A", "B", "C", null, "E", "F", "G"],
      failures: [{ index: 3, item: "d", error: { name: "Error", message: "too loud", attempts: 1 } }],
    });
    expect(state).not.toHaveProperty("maps");
    const settled = [];
    for await (const { event } of run.journal())
      if (event.invocation !== undefined) settled.push(event.invokeId);
    expect(settled).toHaveLength(letters.length);
  });

  test("a map that fails for good cancels what is under way and ends as its machine says", async () => {
    const here = await world();
    const aborted: string[] = [];
    const shout = (letter: string, { signal }: { signal: AbortSignal }) => {
      if (letter !== "c") throw new Error("no voice");
      return new Promise<never>(() => signal.addEventListener("abort", () => aborted.push(letter)));
    };
    const runtime = await here.boot([{ machine, activities: { shout } }]);
    const run = await runtime.start(machine, { id: "run" });
    expect((await run.finished()).status).toBe("done");
    await here.rest();
    expect((await run.state()).configuration).toEqual(["failed"]);
    expect(aborted).toEqual(["c"]);
  });
});
