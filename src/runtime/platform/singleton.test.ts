/** Singletons: one live run for each key, whoever starts it, how often, and whatever dies in between. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { decode, encode } from "../../store/codec.ts";
import type { Runtime } from "../run.ts";

const code = (error: { code?: string }) => error.code;

/** The runs of a machine that have not ended. */
async function live(runtime: Runtime): Promise<string[]> {
  const ids: string[] = [];
  for await (const { run } of runtime.find({ machine: "counter", status: "active" })) ids.push(run);
  return ids;
}

onEveryStore((world) => {
  describe("a singleton", () => {
    test("is started once, and attached to while it is live, whatever the input", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const first = await runtime.start(counter, { singleton: "k", input: 1 });
      const second = await runtime.start(counter, { singleton: "k", input: 2 });
      expect([second.id, (await second.state()).context.n]).toEqual([first.id, 1]);
      expect(await live(runtime)).toEqual([first.id]);
    });

    test("is started anew once it has ended", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const first = await runtime.start(counter, { singleton: "k", input: 1 });
      await first.send("end");
      const second = await runtime.start(counter, { singleton: "k", input: 2 });
      expect(second.id).not.toBe(first.id);
      expect((await second.state()).context.n).toBe(2);
      expect(await live(runtime)).toEqual([second.id]);
    });

    test("can refuse a second one while it is live", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const singleton = { key: "k", policy: "refuse" } as const;
      const first = await runtime.start(counter, { singleton });
      await expect(runtime.start(counter, { singleton })).rejects.toMatchObject({
        code: "RUN_LIVE",
        details: { run: first.id },
      });
      await first.cancel();
      expect((await runtime.start(counter, { singleton })).id).not.toBe(first.id);
    });

    test("can cancel the one before it", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const singleton = { key: "k", policy: "replace" } as const;
      const first = await runtime.start(counter, { singleton, input: 1 });
      const second = await runtime.start(counter, { singleton, input: 2 });
      expect([(await first.head()).status, await live(runtime)]).toEqual(["cancelled", [second.id]]);
    });

    test("has a key of its own tenant and its own machine", async () => {
      const { boot } = await world();
      const other = counterWith({ id: "other" });
      const runtime = await boot([counter, other]);
      const ids = [
        await runtime.start(counter, { singleton: "k" }),
        await runtime.start(counter, { singleton: "k", tenant: "t" }),
        await runtime.start(other, { singleton: "k" }),
        await runtime.start(counter, { singleton: "j" }),
      ].map(({ id }) => id);
      expect(new Set(ids).size).toBe(4);
      const again = await runtime.start(counter, { singleton: "k", tenant: "t" });
      expect(again.id, "it is attached to in its own tenant").toBe(ids[1]);
      const replacing = { singleton: { key: "k", policy: "replace" }, tenant: "t" } as const;
      const next = await runtime.start(counter, { ...replacing, by: "ada" });
      expect((await runtime.run(ids[0] as string).then((run) => run.head())).status).toBe("active");
      expect([next.id === again.id, (await again.head()).status]).toEqual([false, "cancelled"]);
      const ended = (await listOf(again.journal())).at(-1)?.event;
      expect(ended).toMatchObject({ type: "cancel", by: "ada" });
    });

    test("that somebody else begins first, with another input, is attached to", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      let isFirst = true;
      here.watch.alter = async ({ verb }, answer) => {
        const named = verb === "writeDocument" && isFirst;
        if (!named) return answer;
        isFirst = false;
        const document = await (await here.look()).readDocument(
          "default",
          'holdfast.singleton ["counter","k"]',
        );
        const { run } = decode(document?.bytes as Uint8Array, "it") as { run: string };
        await runtime.start(counter, { id: run, input: 1 });
        return answer;
      };
      const run = await runtime.start(counter, { singleton: "k", input: 2 });
      expect((await run.state()).context.n).toBe(1);
      expect(await live(runtime)).toEqual([run.id]);
    });

    test("is one, also where many start it at a time, and one of them is refused or all but one", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const starts = Array.from({ length: 20 }, (_, input) =>
        runtime.start(counter, { singleton: "k", input }),
      );
      const ids = (await Promise.all(starts)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(1);
      const refusing = Array.from({ length: 5 }, () =>
        runtime.start(counter, { singleton: { key: "j", policy: "refuse" } }).then(() => "started", code),
      );
      expect((await Promise.all(refusing)).toSorted()).toEqual([...Array(4).fill("RUN_LIVE"), "started"]);
      const replacing = Array.from({ length: 5 }, () =>
        runtime.start(counter, { singleton: { key: "k", policy: "replace" } }),
      );
      const last = (await Promise.all(replacing)).at(-1)?.id;
      expect((await live(runtime)).filter((id) => ids.includes(id) || id === last)).toEqual([last]);
    });

    test("is live while it is parked", async () => {
      const { boot, rest } = await world();
      const broken = callerWith({}, { invariants: { never: ({ context }) => context.got === null } });
      const runtime = await boot([{ machine: broken, activities: { tool: () => "odd" } }], {
        onProblem: () => {},
      });
      const first = await runtime.start(broken, { singleton: "k" });
      await rest();
      expect((await first.head()).status).toBe("parked");
      expect((await runtime.start(broken, { singleton: "k" })).id).toBe(first.id);
    });

    test("is refused with an id, or a policy nobody knows", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      expect(await runtime.start(counter, { singleton: "k", id: "x" }).catch(code)).toBe("FLOW_INVALID");
      const odd = { singleton: { key: "k", policy: "both" } } as never;
      expect(await runtime.start(counter, odd).catch(code)).toBe("FLOW_INVALID");
      expect(await runtime.start(counter, { singleton: "" }).catch(code)).toBe("NAME_INVALID");
    });

    test("of which only the name was written when its process died is begun by the next start", async () => {
      const { boot, crash, look } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { singleton: "k", input: 1 });
      await one.send("end");
      await crash(runtime);
      // As far as the process before came: the next run has a name, and has not begun.
      const store = await look();
      const name = 'holdfast.singleton ["counter","k"]';
      const document = await store.readDocument("default", name);
      await store.writeDocument("default", name, document?.version ?? 0, encode({ run: "named" }));
      const second = await boot([counter]);
      const [run, other] = await Promise.all([
        second.start(counter, { singleton: "k", input: 2 }),
        second.start(counter, { singleton: "k", input: 3 }),
      ]);
      expect([run.id, other.id, await live(second)]).toEqual(["named", "named", ["named"]]);
    });

    test("leaves nothing behind once it has ended, and its next one is not touched by that", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const name = 'holdfast.singleton ["counter","k"]';
      const named = async () => {
        await here.rest();
        const document = await (await here.look()).readDocument("default", name);
        return document && decode(document.bytes, name);
      };
      const replacing = { key: "k", policy: "replace" } as const;
      const first = await runtime.start(counter, { singleton: "k" });
      expect(await named()).toEqual({ run: first.id });
      const second = await runtime.start(counter, { singleton: replacing });
      expect(await named()).toEqual({ run: second.id });
      await second.send("end");
      expect(await named()).toEqual(undefined);
      const third = await runtime.start(counter, { singleton: "k" });
      expect([await named(), await live(runtime)]).toEqual([{ run: third.id }, [third.id]]);
    });

    test("is known to the next process", async () => {
      const { boot, crash } = await world();
      const runtime = await boot([counter]);
      const first = await runtime.start(counter, { singleton: "k", input: 1 });
      await crash(runtime);
      const second = await boot([counter]);
      expect((await second.start(counter, { singleton: "k", input: 2 })).id).toBe(first.id);
      const refused = second.start(counter, { singleton: { key: "k", policy: "refuse" } });
      expect(await refused.catch(code)).toBe("RUN_LIVE");
    });
  });
});
