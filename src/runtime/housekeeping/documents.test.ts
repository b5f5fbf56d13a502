/** What processes that died have left of singletons, debounces and rates. */
import { describe, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { encode } from "../../store/codec.ts";
import type { Store } from "../../store/store.ts";
import { ratePrefix } from "../flow/allowance.ts";
import { singletonPrefix } from "../platform/named-run.ts";
import { removeDocuments } from "./documents.ts";

const tenant = "default";

async function namesIn(store: Store): Promise<(string | undefined)[]> {
  const rows = await store.scan("document", { limit: 100 });
  return rows.map(({ row }) => row?.name).filter((name) => name !== "machines");
}

onEveryStore((world) => {
  describe("a document", () => {
    test("B10: of a singleton goes when its run has ended, and stays while it is live or has not begun", async () => {
      const { boot, crash, look, clock } = await world();
      const runtime = await boot([counter]);
      await runtime.start(counter, { id: "live" });
      const ended = await runtime.start(counter, { id: "ended" });
      await ended.send("end");
      await crash(runtime);
      const store = await look();
      const left = ["ended", "live", "to come"];
      for (const run of left)
        await store.writeDocument(tenant, `${singletonPrefix}${run}`, 0, encode({ run }));
      expect(await removeDocuments({ store, clock })).toBe(1);
      expect(await namesIn(store)).toEqual([`${singletonPrefix}live`, `${singletonPrefix}to come`]);
    });

    test("B10: of a rate goes when its periods are over; one that is damaged, or somebody else's, stays", async () => {
      const { look, clock } = await world();
      const store = await look();
      const now = clock.now();
      const chunks = (until: number) => encode({ perMs: 1_000, chunks: [{ count: 1, until }] });
      await store.writeDocument(tenant, `${ratePrefix}over`, 0, chunks(now - 1_000));
      await store.writeDocument(tenant, `${ratePrefix}counted`, 0, chunks(now - 999));
      await store.writeDocument(tenant, `${ratePrefix}damaged`, 0, new Uint8Array([1]));
      await store.writeDocument(tenant, "other", 0, encode({}));
      expect(await removeDocuments({ store, clock })).toBe(1);
      expect(await namesIn(store)).toEqual([`${ratePrefix}counted`, `${ratePrefix}damaged`, "other"]);
    });

    test("B10: that was written since it was looked at stays", async () => {
      const { look, clock } = await world();
      const store = await look();
      const name = `${ratePrefix}r`;
      const write = (version: number, until: number) =>
        store.writeDocument(tenant, name, version, encode({ perMs: 1, chunks: [{ count: 1, until }] }));
      await write(0, 0);
      const late = new Proxy(store, {
        get:
          (_, verb) =>
          async (...given: never[]) => {
            if (verb === "removeDocument") await write(1, clock.now());
            return (store[verb as keyof Store] as (...all: never[]) => unknown).apply(store, given);
          },
      });
      expect(await removeDocuments({ store: late, clock })).toBe(0);
      expect((await store.readDocument(tenant, name))?.version).toBe(2);
    });

    test("B10: that a crash left is removed by a runtime that keeps house, before the run that it names", async () => {
      const { boot, crash, look, clock } = await world();
      const dying = await boot([counter]);
      const run = await dying.start(counter, { singleton: "k" });
      const store = await look();
      const name = `${singletonPrefix}["counter","k"]`;
      const document = await store.readDocument(tenant, name);
      await run.send("end");
      await crash(dying);
      if ((await store.readDocument(tenant, name)) === undefined)
        await store.writeDocument(tenant, name, 0, document?.bytes as Uint8Array);
      await boot([counter], { housekeeping: { retain: [{ keep: 0 }] } });
      await clock.advance(60_000);
      expect([await store.readHead({ tenant, run: run.id }), await namesIn(store)]).toEqual([undefined, []]);
    });
  });
});
