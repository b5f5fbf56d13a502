/** Who did it, over HTTP: the journal tells the principal of every request that did something to a run. */
import { expect, test } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { openHouse } from "./house.ts";

/** What was done to a run, and by whom. */
const deedsOf = async (client: Client, run: string) =>
  (await client.runs.journal({ run })).entries.map(({ event: { type, by } }) => [type, by]);

test("B8: every route that acts on a run says which key did", async () => {
  const { as } = await openHouse({ dev: false });
  const [ada, bob] = [await as("developer"), await as("operator")];
  const [{ id: first }, { id: second }] = [await ada.me.show({}), await bob.me.show({})];
  expect(first).not.toBe(second);
  const run = "a";
  await ada.runs.start({ machine: "counter", run });
  await bob.runs.send({ run, events: [{ type: "add", data: 1 }] });
  await bob.runs.send({
    run,
    events: [
      { type: "add", data: 1 },
      { type: "add", data: 1 },
    ],
  });
  await bob.runs.breakpoints({ run, breakpoints: [] });
  await bob.runs.pause({ run });
  await bob.runs.advance({ run });
  await ada.runs.send({ run, events: [{ type: "add", data: 1 }], wait: "handled" });
  await bob.runs.retry({ run });
  await ada.runs.rollback({ run, to: 2 });
  await ada.runs.fork({ run, fork: "b" });
  await bob.runs.cancel({ run });
  await bob.runs.bulk({ action: "cancel", runs: ["b"] });
  expect(await deedsOf(ada, run)).toEqual([
    ...[
      ["start", first],
      ["add", second],
      ["add", second],
      ["add", second],
      ["debug", second],
    ],
    ...[
      ["park", second],
      ["retry", second],
      ["add", first],
      ["park", undefined],
      ["retry", second],
    ],
    ...[
      ["rollback", first],
      ["cancel", second],
    ],
  ]);
  expect(await deedsOf(ada, "b")).toEqual([
    ["fork", first],
    ["cancel", second],
  ]);
});

test("B8: so do questions, what is said to an agent, and decisions, whatever their events have room for", async () => {
  const { as } = await openHouse({ dev: false });
  const client = await as("developer");
  const { id } = await client.me.show({});
  await client.runs.start({ machine: "expense", run: "e" });
  await client.inbox.decide({ run: "e", decision: "asking@1", verdict: "approve" });
  expect((await deedsOf(client, "e"))[1]).toEqual([expect.any(String), id]);
  await client.runs.start({ machine: "helper", run: "h" });
  await client.runs.say({ run: "h", text: "Refund me" });
  expect(await deedsOf(client, "h")).toContainEqual(["say", id]);
});

test("F5: nobody can ask as another", async () => {
  const { client, listen } = await openHouse();
  const { url } = await listen();
  await client.runs.start({ machine: "counter", run: "a" });
  const headers = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };
  const body = JSON.stringify({ events: [{ type: "add", data: 1, by: "mallory" }] });
  const { status } = await fetch(`${url}/v1/runs/a/events`, { method: "POST", headers, body });
  expect(status).toBe(400);
  expect(await deedsOf(client, "a")).toEqual([["start", "dev"]]);
});
