/** `runtime.observe`: every commit is told once it is durable, and a listener can hurt nothing. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import type { Committed } from "./runtime.ts";

const shown = ({ head, state, steps }: Committed) =>
  `${head.run}@${head.seq} ${state.configuration.join()} ${steps.map(({ seq, event }) => `${seq}:${event.type}`).join(" ")}`;

onEveryStore((world) => {
  describe("a listener", () => {
    test("E1: is told of every commit, with its steps, until it wants no more", async () => {
      const { boot, stored } = await world();
      const runtime = await boot([counter]);
      const told: Promise<[string, boolean]>[] = [];
      const end = runtime.observe((committed) => {
        const { head } = committed;
        // Whatever is told is in the store by then.
        told.push(stored(head.run).then((kept) => [shown(committed), (kept.head?.seq ?? 0) >= head.seq]));
      });
      const run = await runtime.start(counter, { id: "a" });
      await run.sendAll([{ type: "add", data: 1 }, { type: "nap" }]);
      await run.send("nonsense");
      end();
      await run.cancel();
      expect(await Promise.all(told)).toEqual([
        ["a@1 open 1:start", true],
        ["a@3 asleep 2:add 3:nap", true],
        ["a@4 asleep 4:nonsense", true],
      ]);
    });

    test("E1: hears what was refused and why, and of effects", async () => {
      const { boot } = await world();
      const caller = callerWith();
      const runtime = await boot([counter, { machine: caller, activities: { tool: () => "yes" } }]);
      const told: Committed[] = [];
      runtime.observe((committed) => void told.push(committed));
      const run = await runtime.start(counter, { id: "a" });
      await (await run.send("nonsense")).handled();
      await (await runtime.start(caller, { id: "b" })).waitFor("done");
      const steps = told.flatMap(({ steps }) => steps);
      expect(steps.find(({ outcome }) => outcome === "refused")?.error).toMatchObject({
        code: "EVENT_UNKNOWN",
      });
      expect(steps.flatMap(({ effects }) => effects.map(({ type }) => type))).toContain("activity");
    });

    test("E1: that throws stops neither the run nor other listeners, and is told of as a problem", async () => {
      const { boot } = await world();
      const problems: unknown[] = [];
      const runtime = await boot([counter], { onProblem: ({ error }) => void problems.push(error) });
      const heard: string[] = [];
      runtime.observe(() => {
        throw new Error("no ears");
      });
      runtime.observe((committed) => void heard.push(shown(committed)));
      const run = await runtime.start(counter, { id: "a" });
      await run.send("add", 2);
      expect((await run.state()).context).toMatchObject({ n: 2 });
      expect(heard).toEqual(["a@1 open 1:start", "a@2 open 2:add"]);
      expect(problems).toHaveLength(2);
    });

    test("E1: that is asynchronous and fails is told of as a problem, and ends nothing", async () => {
      const { boot, rest } = await world();
      const problems: unknown[] = [];
      const fail = async () => {
        throw new Error("no ears");
      };
      const teller = counterWith({ entry: [{ log: "begun" }, { emit: "begun" }] } as never);
      const runtime = await boot([teller], {
        ...{ onLog: fail, onEmit: fail },
        onProblem: async ({ error }) => {
          problems.push((error as Error).message);
          throw error;
        },
      });
      runtime.observe(fail);
      const run = await runtime.start(teller, { id: "a" });
      await rest();
      expect(await (await run.send("add", 1)).handled()).toMatchObject({ outcome: "taken" });
      expect(problems.slice(0, 3)).toEqual(Array(3).fill("no ears"));
    });
  });
});
