/** Finding runs: by tenant, subject, machine, status, time and attributes, the newest first, page by page. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../test/runtime/machines.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine } from "../core/machine.ts";
import type { FindQuery } from "./find.ts";
import type { Runtime } from "./runtime.ts";

/** Waits for a person below a state that says so, in one of two regions. */
const expense = defineMachine({
  id: "expense",
  type: "parallel",
  states: {
    form: {
      initial: "writing",
      states: {
        writing: { on: { submit: "deciding" } },
        deciding: {
          tags: ["approval"],
          initial: "reading",
          states: { reading: {} },
          on: { approve: "paid", reject: "writing" },
        },
        paid: {},
      },
    },
    clock: {},
  },
});

async function namesOf(runtime: Runtime, query?: FindQuery): Promise<string[]> {
  const names: string[] = [];
  for await (const { run } of runtime.find(query)) names.push(run);
  return names;
}

onEveryStore((world) => {
  describe("runs", () => {
    test("B6: are found by what they were started with, the newest first", async () => {
      const { boot, clock } = await world();
      const other = counterWith({ id: "other" });
      const runtime = await boot([counter, other]);
      const start = async (machine: typeof counter, id: string, options: object) => {
        await clock.advance(1);
        return runtime.start(machine, { id, ...options });
      };
      const from = clock.now();
      const a = await start(counter, "a", { subject: "ada", attributes: { team: "red", size: 1 } });
      await start(counter, "b", { subject: "bob", attributes: { team: "red", size: "1" } });
      await start(other, "c", { subject: "ada", attributes: { team: "blue", urgent: true } });
      await start(counter, "d", { tenant: "acme", attributes: { team: "red" } });
      await a.send("end");
      const cases: [FindQuery, string[]][] = [
        [{}, ["c", "b", "a"]],
        [{ tenant: "acme" }, ["d"]],
        [{ subject: "ada" }, ["c", "a"]],
        [{ machine: "counter" }, ["b", "a"]],
        [{ status: "done" }, ["a"]],
        [{ status: "active" }, ["c", "b"]],
        [{ attributes: { team: "red" } }, ["b", "a"]],
        [{ attributes: { size: 1 } }, ["a"]],
        [{ attributes: { size: "1" } }, ["b"]],
        [{ attributes: { urgent: true } }, ["c"]],
        [{ attributes: { urgent: "true" } }, []],
        [{ attributes: { team: "red", size: "1" } }, ["b"]],
        [{ subject: "ada", machine: "other", attributes: { team: "blue" } }, ["c"]],
        [{ createdFrom: from + 2, createdBefore: from + 3 }, ["b"]],
        [{ attributes: { "' OR 1=1 --": "x" } }, []],
        [{ attributes: { nothing: "x" } }, []],
      ];
      for (const [query, names] of cases)
        expect([query, await namesOf(runtime, query)]).toEqual([query, names]);
    });

    test("B6: are found by what their machine makes of every state, through a crash", async () => {
      const { boot, crash } = await world();
      const attributes = ({
        context,
        configuration,
      }: {
        context: { n?: number };
        configuration: readonly string[];
      }) => ({
        large: (context.n ?? 0) > 10,
        phase: configuration.join(),
      });
      const entry = { machine: counter, attributes: attributes as never };
      const first = await boot([entry]);
      const run = await first.start(counter, { id: "a", attributes: { team: "red" } });
      const find = (query: FindQuery["attributes"]) => namesOf(first, { attributes: query as never });
      expect(await find({ large: false, team: "red" })).toEqual(["a"]);
      await run.send("add", 11);
      expect([await find({ large: false }), await find({ large: true, team: "red" })]).toEqual([[], ["a"]]);
      await run.send("nap");
      expect([await find({ phase: "open" }), await find({ phase: "asleep" })]).toEqual([[], ["a"]]);
      await crash(first);
      expect(await namesOf(await boot([entry]), { attributes: { phase: "asleep", team: "red" } })).toEqual([
        "a",
      ]);
    });

    test("G4: that wait for a person are found by that, wherever in their machine they do", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter, expense]);
      const waiting = (runtime: Runtime) => namesOf(runtime, { attributes: { "holdfast.person": true } });
      await first.start(counter, { id: "other" });
      const run = await first.start(expense, { id: "a" });
      expect(await waiting(first)).toEqual([]);
      await run.send("submit");
      expect(await waiting(first)).toEqual(["a"]);
      await crash(first);
      const second = await boot([counter, expense]);
      expect(await waiting(second)).toEqual(["a"]);
      await (await second.run("a")).send("approve");
      expect(await waiting(second)).toEqual([]);
    });

    test("B6: that are many are found page by page, each once, also those of the same moment", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const ids = Array.from({ length: 350 }, (_, n) => `run ${n}`);
      await Promise.all(ids.map((id) => runtime.start(counter, { id, attributes: { all: 1 } })));
      for (const query of [{}, { attributes: { all: 1 } }]) {
        const names = await namesOf(runtime, query);
        expect([names.length, new Set(names)]).toEqual([350, new Set(ids)]);
      }
    });

    test("F5: are neither started nor found with attributes that stores cannot keep", async () => {
      const { boot, stored } = await world();
      const runtime = await boot([counter]);
      for (const value of [
        null,
        undefined,
        {},
        ["x"],
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1n,
        "\ud800",
        "a\0b",
      ]) {
        const attributes = { team: value as never };
        const invalid = { code: "ATTRIBUTE_INVALID", message: expect.stringContaining("team") };
        await expect(runtime.start(counter, { id: "a", attributes })).rejects.toMatchObject(invalid);
        await expect(namesOf(runtime, { attributes })).rejects.toMatchObject(invalid);
      }
      for (const name of ["", "\ud800", "a\0b", "x".repeat(513)])
        await expect(runtime.start(counter, { id: "a", attributes: { [name]: 1 } })).rejects.toMatchObject({
          code: "NAME_INVALID",
        });
      for (const attributes of [null, ["x"], "x"] as never[])
        await expect(runtime.start(counter, { id: "a", attributes })).rejects.toMatchObject({
          code: "ATTRIBUTE_INVALID",
        });
      expect((await stored("a")).head).toBeUndefined();
      expect((await runtime.start(counter, { id: "b" })).id).toBe("b");
    });

    test("F5: whose machine makes attributes that stores cannot keep are told so, and change nothing", async () => {
      const { boot, stored } = await world();
      let value: unknown = 1;
      const runtime = await boot([{ machine: counter, attributes: () => ({ odd: value as number }) }]);
      const run = await runtime.start(counter, { id: "a" });
      const before = await stored("a");
      value = { a: 1 };
      await expect(run.send("add", 1)).rejects.toMatchObject({ code: "ATTRIBUTE_INVALID" });
      expect(await stored("a")).toEqual(before);
      value = 2;
      await run.send("add", 1);
      expect(await namesOf(runtime, { attributes: { odd: 2 } })).toEqual(["a"]);
    });
  });
});
