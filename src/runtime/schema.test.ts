/** Schemas where runs are durable: what is refused, what is tried again, and which definitions count as the same. */
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { booking } from "../../test/inference/booking.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import type { MachineDefinition } from "../index.ts";
import { definitionHash } from "./definition-hash.ts";

const cheap = { id: "DL1", price: 100 };
const input = { goal: "NYC", budget: 500 };

onEveryStore((world) => {
  describe("a machine with schemas and its activities bound", () => {
    test("runs from its input to its output", async () => {
      const keys: string[] = [];
      const machine = booking.implement({
        search: async ({ goal }) => [{ ...cheap, id: goal }],
        book: (flight, { key }) => {
          keys.push(key);
          return { reference: `${flight.id}-1` };
        },
      });
      const runtime = await (await world()).boot([machine]);
      const run = await runtime.start(booking, { id: "trip", input });
      await run.waitFor("choosing");
      await (await run.send("choose", { flight: "NYC" })).handled();
      expect(await run.finished()).toEqual({
        status: "done",
        state: "booked",
        output: { reference: "NYC-1" },
        reason: undefined,
      });
      expect(keys).toHaveLength(1);
    });

    test("A2: refuses what does not fit, and goes on", async () => {
      const machine = booking.implement({ search: () => [cheap], book: () => ({ reference: "X" }) });
      const runtime = await (await world()).boot([machine]);
      const wrong = runtime.start(booking, { input: { goal: "NYC", budget: "500" } as never });
      await expect(wrong).rejects.toMatchObject({ code: "INPUT_INVALID" });
      const run = await runtime.start(booking, { input });
      await run.waitFor("choosing");
      const receipt = await run.send("choose", { flight: 1 } as never);
      expect(await receipt.handled()).toMatchObject({
        outcome: "refused",
        error: { code: "EVENT_INVALID", message: expect.stringContaining("data.flight: ") },
      });
      await run.send("abandon", {});
      expect(await run.finished()).toMatchObject({ status: "done", state: "failed" });
    });

    test("A2: tries an activity again that gave what does not fit, and then lets it fail", async () => {
      let calls = 0;
      const searching = (good: number) =>
        booking.implement({
          search: () => (++calls === good ? [cheap] : ([{ id: "DL1" }] as never)),
          book: () => ({ reference: "X" }),
        });
      const here = await world();
      const runtime = await here.boot([searching(3)]);
      const run = await runtime.start(booking, { id: "a", input });
      const choosing = run.waitFor("choosing");
      for (let minute = 0; minute < 3; minute++) await here.clock.advance("1m");
      expect((await choosing).context.options).toEqual([cheap]);
      expect(calls).toBe(3);
      await here.close(runtime);
      const other = await here.boot([searching(0)]);
      const failing = await other.start(booking, { id: "b", input });
      const end = failing.finished();
      for (let minute = 0; minute < 10; minute++) await here.clock.advance("1m");
      expect(await end).toMatchObject({ status: "done", state: "failed" });
      expect(calls).toBe(8);
    });
  });
});

describe("the hash of a definition with schemas", () => {
  const hash = (context: object) =>
    definitionHash({ id: "m", context, initial: "a", states: { a: {} } } satisfies MachineDefinition);

  test("is equal for equal schemas and differs for others, where the library can tell", () => {
    expect(hash(z.object({ n: z.number() }))).toBe(hash(z.object({ n: z.number() })));
    expect(hash(z.object({ n: z.number() }))).not.toBe(hash(z.object({ n: z.string() })));
    expect(hash(type({ n: "number" }))).toBe(hash(type({ n: "number" })));
    expect(hash(type({ n: "number" }))).not.toBe(hash(type({ n: "string" })));
  });

  test("tells only libraries apart, where it cannot", () => {
    expect(hash(v.object({ n: v.number() }))).toBe(hash(v.object({ n: v.string() })));
    expect(hash(v.object({ n: v.number() }))).not.toBe(hash(z.object({ n: z.number() })));
    const dated = z.object({ at: z.date() });
    expect(hash(dated)).toBe(hash(z.object({ on: z.date() })));
  });

  test("does not depend on the code that is bound", () => {
    const bound = booking.implement({ search: () => [] });
    expect(definitionHash(bound.definition)).toBe(definitionHash(booking.implement({}).definition));
  });
});
