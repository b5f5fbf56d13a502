/** Deciding: who did, which way and with which words stays with the run. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defineMachine } from "../../src/index.ts";
import { openHouse } from "./house.ts";

/** Asks, with events of these schemas. */
const asking = (id: string, events: Record<string, z.ZodType>) =>
  defineMachine({
    id,
    start: {},
    events: events as never,
    initial: "asking",
    states: {
      asking: { approval: { onApproved: "granted", onRejected: "refused" } },
      granted: {},
      refused: {},
    },
  } as never);

const both = (schema: z.ZodType) => ({ approve: schema, reject: schema });
const words = asking("words", both(z.object({ by: z.string(), note: z.string() }).partial().optional()));
const note = asking("note", both(z.object({ note: z.string().optional(), euros: z.number().optional() })));
const bare = asking("bare", both(z.object({}).optional()));
const count = asking("count", both(z.number()));
const open = () => openHouse({ runtimeOptions: { machines: [words, note, bare, count] as never } });

test("G4: who decided and the note stay with the run wherever the event that decides has room for them", async () => {
  const { client } = await open();
  const decided = async (machine: string, more: object) => {
    const { run } = await client.runs.start({ machine });
    await client.inbox.decide({ run, decision: "asking@1", verdict: "reject", ...more });
    const { entries } = await client.runs.journal({ run, from: 2 });
    expect(entries[0]?.outcome).toBe("taken");
    return entries[0]?.event.data;
  };
  expect(await decided("words", { note: "Not covered" })).toEqual({ by: "dev", note: "Not covered" });
  expect(await decided("words", {})).toEqual({ by: "dev" });
  expect(await decided("note", { note: "Not covered" })).toEqual({ note: "Not covered" });
  expect(await decided("note", { note: "Half", input: { euros: 5 } })).toEqual({ note: "Half", euros: 5 });
  expect(await decided("bare", {})).toBeUndefined();
  expect(await decided("count", { input: 3 })).toBe(3);
});

test("G4: a note that would be lost is refused, and nothing is decided", async () => {
  const { client } = await open();
  for (const [machine, more] of [
    ["bare", {}],
    ["count", { input: 3 }],
  ] as const) {
    const { run } = await client.runs.start({ machine });
    const decide = client.inbox.decide({
      ...{ run, decision: "asking@1", verdict: "reject", note: "Not covered", ...more },
    });
    await expect(decide).rejects.toMatchObject({
      ...{ code: "REQUEST_INVALID", details: { problems: [{ path: "body.note" }] } },
    });
    expect((await client.runs.show({ run })).configuration).toEqual(["asking"]);
  }
});

test("G4: what was decided before is told with the way it was decided", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "expense", run: "e" });
  const decide = (run: string, decision: string, verdict: "approve" | "reject" | "respond") =>
    client.inbox.decide({ run, decision, verdict, note: "so" });
  expect(await decide("e", "asking@1", "approve")).toMatchObject({ verdict: "approve", isRepeat: false });
  expect(await decide("e", "asking@1", "reject")).toMatchObject({ verdict: "approve", isRepeat: true });
  await client.runs.start({ machine: "helper", run: "h" });
  await client.runs.say({ run: "h", text: "Refund me" });
  await expect.poll(async () => (await client.inbox.list({ run: "h" })).decisions.length).toBe(1);
  const [call] = (await client.inbox.list({ run: "h" })).decisions;
  expect(await decide("h", String(call?.decision), "respond")).toMatchObject({ verdict: "reject" });
  expect(await decide("h", String(call?.decision), "approve")).toMatchObject({
    ...{ verdict: "reject", isRepeat: true },
  });
});
