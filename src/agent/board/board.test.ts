/** The definitions of boards: what is refused, and how the compiler holds agents to them. */
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { HoldfastError } from "../../errors.ts";
import { createRuntime } from "../../runtime/runtime.ts";
import { memory } from "../../store/memory/store.ts";
import { defineBoard } from "./board.ts";
import { openBoard } from "./open.ts";
import type { Written } from "./outcome.ts";

test("a board whose definition has problems is refused, with all of them", () => {
  const define = () =>
    defineBoard({
      id: "bad",
      keys: {
        one: { policy: "overwrite" as never },
        two: { policy: { merge: "summ" } },
        three: { policy: "reject", schema: {} as never, lease: "door" },
        four: { policy: null as never },
      },
      merges: { sum: (current) => current },
      leases: ["window"],
    });
  expect(define).toThrow(HoldfastError);
  expect(define).toThrow(
    [
      'The board "bad" has problems:',
      '  one: its policy is "overwrite"; write reject, last-write, review or { merge }',
      '  two: there is no merge "summ"; there are append, union, max, sum',
      "  three: its schema is no Standard Schema",
      "  four: its policy is null; write reject, last-write, review or { merge }",
      '  three: there is no lease "door"; there are window',
    ].join("\n"),
  );
  expect(() => defineBoard({ id: "b", keys: { "": { policy: "reject" } } })).toThrow(/cannot be used/);
  expect(() => defineBoard({ id: "b", keys: JSON.parse('{"__proto__":{"policy":"reject"}}') })).toThrow(
    "__proto__",
  );
});

test("another definition of the same board and version is refused beside it", async () => {
  const of = (policy: "reject" | "last-write") => defineBoard({ id: "b", keys: { plan: { policy } } });
  const runtime = await createRuntime({ store: memory(), machines: [of("reject")] });
  runtime.register(of("reject"));
  expect(() => runtime.register(of("last-write"))).toThrow("give the new one another version");
  await expect(openBoard(runtime, of("reject"), { id: "x", agent: "" })).rejects.toMatchObject({
    code: "NAME_INVALID",
  });
  await runtime.close();
});

test("keys, values, outcomes and leases are typed by the definition", () => {
  const team = defineBoard({
    id: "team",
    keys: {
      plan: { policy: "reject", schema: z.object({ goal: z.string() }) },
      note: { policy: "last-write" },
    },
    leases: ["deploy"],
  });
  const use = async (board: Awaited<ReturnType<typeof open>>) => {
    expectTypeOf<Parameters<typeof board.lease>[0]>().toEqualTypeOf<"deploy" | readonly "deploy"[]>();
    expectTypeOf((await board.read("plan")).value).toEqualTypeOf<{ goal: string } | undefined>();
    expectTypeOf(await board.write("plan", { goal: "" })).toEqualTypeOf<Written<{ goal: string }>>();
    // @ts-expect-error: there is no such key
    await board.read("plans");
    // @ts-expect-error: that is no plan
    await board.write("plan", "a");
    // @ts-expect-error: there is no such lease
    await board.lease("door", { for: 1 });
    for await (const change of board.subscribe({ keys: ["plan"] }))
      expectTypeOf(change.value).toEqualTypeOf<{ goal: string } | undefined>();
  };
  const open = () => openBoard(null as never, team, { id: "b", agent: "a" });
  expect(typeof use).toBe("function");
});
