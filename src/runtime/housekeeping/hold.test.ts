/** Holds: what they keep, and how they are put on and taken back. */
import { describe, expect, test } from "vitest";
import { onEveryStore } from "../../../test/runtime/world.ts";
import type { Store } from "../../store/store.ts";
import { hold, holdOn, readHolds, release } from "./hold.ts";

onEveryStore((world) => {
  describe("a hold", () => {
    test("on a run, on a subject or on everything keeps what it names and nothing else", async () => {
      const { look, clock } = await world();
      const store = await look();
      const kept = async () => {
        const holds = await readHolds({ store });
        const runs = [
          { run: "a", subject: "ada" },
          { run: "b", subject: "ada" },
          { run: "ada", subject: "a" },
        ];
        return runs.filter((one) => holdOn(holds, one) !== undefined).map(({ run }) => run);
      };
      await hold({ store, clock }, { run: "a", reason: "one" });
      expect(await kept()).toEqual(["a"]);
      await hold({ store, clock }, { subject: "ada", reason: "two" });
      expect(await kept()).toEqual(["a", "b"]);
      await hold({ store, clock }, { everything: true, reason: "three" });
      expect(await kept()).toEqual(["a", "b", "ada"]);
      expect(await readHolds({ store })).toMatchObject([
        { run: "a", reason: "one", at: clock.now() },
        { subject: "ada", reason: "two" },
        { everything: true, reason: "three" },
      ]);
    });

    test("is taken back by what it was put on, and not by another name", async () => {
      const { look, clock } = await world();
      const store = await look();
      for (const held of [{ run: "a" }, { subject: "a" }, { everything: true }] as const)
        await hold({ store, clock }, { ...held, reason: "a lawsuit" });
      for (const other of [{ run: "b" }, { subject: "b" }])
        expect(await release({ store }, other)).toBe(false);
      expect(await release({ store }, { subject: "a" })).toBe(true);
      expect(await readHolds({ store })).toMatchObject([{ run: "a" }, { everything: true }]);
      expect(await release({ store }, { everything: true })).toBe(true);
      expect(await readHolds({ store })).toMatchObject([{ run: "a" }]);
    });

    test("is a tenant's own, and of a name that there can be", async () => {
      const { look, clock } = await world();
      const store = await look();
      await hold({ store, clock, tenant: "globex" }, { run: "a", reason: "theirs" });
      expect(await readHolds({ store })).toEqual([]);
      expect(await release({ store }, { run: "a" })).toBe(false);
      expect(await readHolds({ store, tenant: "globex" })).toMatchObject([{ run: "a" }]);
      for (const [tenant, held] of [
        ["default", { run: "" }],
        ["default", { subject: "" }],
        ["", { run: "a" }],
      ] as const)
        await expect(hold({ store, clock, tenant }, { ...held, reason: "x" })).rejects.toMatchObject({
          code: "NAME_INVALID",
        });
    });

    test("is not lost where another one is put on at the same time", async () => {
      const { look, clock } = await world();
      const store = await look();
      let others = 1;
      const late = new Proxy(store, {
        get:
          (_, verb) =>
          async (...given: never[]) => {
            if (verb === "writeDocument" && others-- > 0)
              await hold({ store, clock }, { run: "b", reason: "faster" });
            return (store[verb as keyof Store] as (...all: never[]) => unknown).apply(store, given);
          },
      });
      await hold({ store: late, clock }, { run: "a", reason: "slower" });
      expect(await readHolds({ store })).toMatchObject([{ run: "b" }, { run: "a" }]);
    });

    test("that is there already is not written again", async () => {
      const { look, clock } = await world();
      const store = await look();
      for (const reason of ["first", "second"]) await hold({ store, clock }, { run: "a", reason });
      expect(await readHolds({ store })).toMatchObject([{ run: "a", reason: "first" }]);
      expect((await store.readDocument("default", "holdfast/holds"))?.version).toBe(1);
    });
  });
});
