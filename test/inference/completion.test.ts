/** What an editor offers while a machine is written, functions and all; the language server itself is asked. */
import { describe, expect, test } from "vitest";
import { completionsIn } from "./editor.ts";

/** A machine with functions wherever functions may stand, and these states in it. */
const machine = (states: string, rest = "") => `import { defineMachine } from "holdfast";
import { z } from "zod";
const child = defineMachine({
  id: "child",
  context: z.object({ of: z.number() }),
  start: { of: 4 },
  initial: "x",
  states: { x: { type: "final", output: ({ context }) => ({ half: context.of / 2 }) } },
});
export const machine = defineMachine({
  id: "machine",
  context: z.object({ n: z.number(), papers: z.array(z.object({ title: z.string() })) }),
  events: { go: z.object({ to: z.string() }), approve: z.object({ by: z.string() }), reject: z.undefined() },
  activities: { work: { input: z.object({ n: z.number() }), output: z.object({ sum: z.number() }) }, look: {} },
  guards: { below: ({ context }, { max }: { max: number }) => context.n < max, always: () => true },
  start: () => ({ n: 0, papers: [] }),
  initial: "a",
  states: {
    a: {
      initial: "one",
      entry: { log: ({ context }) => context.n },
      states: {
        one: { id: "first", on: { go: { target: "two", guard: ({ event }) => event.data.to === "two" } } },
        two: { invoke: { machine: child, onDone: { update: (draft, { event }) => { draft.n = event.data.half; } } } },
      },
    },
    b: { on: { go: { update: (draft, { event }) => { draft.n = event.data.to.length; } } } },
    ${states}
  },
  ${rest}
});
`;
const outside = ["#first", "a", "a.one", "a.two", "b", "c"];
const offered = async (states: string, rest?: string) => completionsIn(machine(states, rest));

describe("an editor", () => {
  test("A2: offers siblings and ancestors' siblings as targets, with functions all around", async () => {
    const states = `c: {
      on: { go: "‸", approve: [{ target: "‸", guard: () => true }, "‸"] },
      always: { target: "‸", guard: ({ context }) => context.n > 0 },
      after: { "1 s": "‸" },
      invoke: { activity: "work", input: ({ context }) => ({ n: context.n }), onDone: { target: "‸", update: (draft) => { draft.n = 1; } }, onError: "‸" },
    },`;
    for (const targets of await offered(states)) expect(targets).toEqual(outside);
  });

  test("A2: offers children as .child, and what stands beside a nested state", async () => {
    const states = `c: {
      initial: "‸",
      on: { go: { target: "‸", update: (draft) => { draft.n = 1; } } },
      states: { deep: { on: { go: "‸" }, exit: { log: ({ at }) => at } }, deeper: {} },
    },`;
    const all = [...outside, "c.deep", "c.deeper"];
    expect(await offered(states)).toEqual([
      ["#first", ".deep", ".deeper", "deep", "deeper"],
      [...all, ".deep", ".deeper"].sort(),
      [...all, "deep", "deeper"].sort(),
    ]);
  });

  test("A2: offers the targets of the machine itself", async () => {
    const [handler] = await offered("c: {},", 'on: { go: { target: "‸", guard: () => true } },');
    expect(handler).toEqual([...outside, ...outside.slice(1).map((path) => `.${path}`)].sort());
  });

  test("A2: offers events, activities, guards and fields of payloads", async () => {
    const states = `c: {
      on: { ‸ },
      defer: ["‸"],
      entry: [{ raise: { type: "‸" } }],
      always: { guard: "‸" },
      invoke: { activity: "‸", input: () => ({ n: 1 }) },
    },
    d: { on: { go: { guard: ({ event }) => event.data.‸to === "" } } },
    e: { invoke: { activity: "work", input: { n: 1 }, onDone: { guard: ({ event }) => event.data.‸sum > 1 } } },
    f: { invoke: { machine: child, onDone: { guard: ({ event }) => event.data.‸half > 1 } } },`;
    const [handled, deferred, raised, guards, activities, ...fields] = await offered(states);
    const events = ["approve", "go", "reject"];
    expect([handled, deferred, raised]).toEqual([events, events, events]);
    expect([guards, activities]).toEqual([
      ["always", "below"],
      ["look", "work"],
    ]);
    expect(fields).toEqual([["to"], ["sum"], ["half"]]);
  });

  test("A2: offers the same in shorthand", async () => {
    const states = `c: { attempt: { invoke: { activity: "work", input: () => ({ n: 1 }), onDone: "‸" }, catch: [{ errors: ["Busy"], target: "‸" }, "‸"] } },
    d: { approval: { by: ({ event }) => event.type === "reject", onApproved: { target: "‸", guard: ({ event }) => event.data.‸by === "" }, onRejected: "‸" } },
    e: { map: { over: "‸", activity: "look", onDone: "a", onError: "b" } },
    f: { map: { over: "papers", as: "paper", activity: "look", input: ({ event }) => event.data.‸paper.‸title, onDone: "‸", onError: "‸" } },`;
    const all = [...outside, "d", "e", "f"];
    const [done, caught, last, approved, fields, rejected, lists, item, title, ...ends] =
      await offered(states);
    expect([done, caught, last, approved, rejected, ...ends]).toEqual([all, all, all, all, all, all, all]);
    expect([fields, lists, item, title]).toEqual([["by"], ["papers"], ["index", "paper"], ["title"]]);
  });
});
