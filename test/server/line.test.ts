/** The line from a client to the store and back: each kind of thing once, through the real client. */
import { expect, test } from "vitest";
import { openHouse } from "./house.ts";

test("D1: a run is started, sent to, shown, journaled and ended through the client", async () => {
  const { client } = await openHouse();
  const started = await client.runs.start({ machine: "counter", run: "a", input: { from: 5 } });
  expect(started).toMatchObject({ run: "a", status: "active", configuration: ["open"], kind: "machine" });
  expect(started.nextEvents.find(({ type }) => type === "add")?.schema).toMatchObject({ type: "number" });
  const sent = await client.runs.send({ run: "a", events: [{ type: "add", data: 2 }], wait: "handled" });
  expect(sent.events).toEqual([{ type: "add", handled: { seq: 2, outcome: "taken" } }]);
  expect((await client.runs.state({ run: "a" })).state.context).toEqual({ n: 7 });
  expect((await client.runs.state({ run: "a", at: 1 })).state.context).toEqual({ n: 5 });
  expect((await client.runs.ask({ run: "a", type: "read" })).reply).toBe(7);
  await client.runs.send({ run: "a", events: [{ type: "nap" }] });
  const shown = await client.runs.show({ run: "a" });
  expect(shown.waiting.line).toMatch(/^sleeps until \d{4}-/);
  const { entries, first, last, next } = await client.runs.journal({ run: "a", limit: 3 });
  expect(entries.map(({ seq, event, configuration }) => [seq, event.type, configuration])).toEqual([
    [1, "start", ["open"]],
    [2, "add", ["open"]],
    [3, "read", ["open"]],
  ]);
  expect({ first, last, next }).toEqual({ first: 1, last: 4, next: 4 });
  expect((await client.runs.cancel({ run: "a" })).status).toBe("cancelled");
});

test("D1: runs are listed with filters, page by page, the newest first", async () => {
  const { client } = await openHouse();
  for (let index = 0; index < 7; index++)
    await client.runs.start({
      machine: "counter",
      run: `r${index}`,
      attributes: { even: index % 2 === 0, n: index },
    });
  const names: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.runs.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
    names.push(...page.runs.map(({ run }) => run));
    if (page.next === undefined) break;
    cursor = page.next;
  }
  expect(names).toHaveLength(7);
  expect(new Set(names).size).toBe(7);
  const even = await client.runs.list({ attributes: { even: true } });
  expect(even.runs.map(({ run }) => run).sort()).toEqual(["r0", "r2", "r4", "r6"]);
  expect((await client.runs.list({ attributes: { n: 3 } })).runs.map(({ run }) => run)).toEqual(["r3"]);
  expect((await client.runs.list({ status: "done" })).runs).toEqual([]);
  expect((await client.runs.list({ machine: "expense" })).runs).toEqual([]);
});

test("D1: steps come live, and a stream that broke goes on where it was", async () => {
  const { client, listen } = await openHouse();
  await listen();
  await client.runs.start({ machine: "counter", run: "a" });
  const stop = new AbortController();
  const seen: string[] = [];
  const first = (async () => {
    for await (const { id, data } of client.runs.follow({ run: "a", from: 1 }, { signal: stop.signal })) {
      seen.push(`${id}:${data.event.type}:${data.configuration}`);
      if (seen.length === 2) break;
    }
  })();
  await client.runs.send({ run: "a", events: [{ type: "nap" }] });
  await first;
  expect(seen).toEqual(["1:start:open", "2:nap:asleep"]);
  await client.runs.send({ run: "a", events: [{ type: "add", data: 1 }] });
  const again: string[] = [];
  for await (const { id, data } of client.runs.follow({ run: "a" }, { lastEventId: "2" })) {
    again.push(`${id}:${data.event.type}`);
    break;
  }
  expect(again).toEqual(["3:add"]);
});

test("G4: what people are asked stands in the inbox, and deciding twice is deciding once", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "expense", run: "e" });
  const { decisions } = await client.inbox.list();
  expect(decisions).toMatchObject([
    { run: "e", decision: "asking@1", kind: "approval", asked: "Pay 40 €?", allowed: ["approve", "reject"] },
  ]);
  expect((await client.runs.show({ run: "e" })).waiting.line).toMatch(
    /^waits for a decision: Pay 40 €\?, until [-\d]+ [:\d]+ UTC$/,
  );
  const decide = () =>
    client.inbox.decide({ run: "e", decision: "asking@1", verdict: "approve", note: "fine" });
  expect(await decide()).toMatchObject({ outcome: "taken", seq: 2, isRepeat: false });
  expect(await decide()).toMatchObject({ outcome: "taken", seq: 2, isRepeat: true });
  expect((await client.runs.show({ run: "e" })).configuration).toEqual(["paid"]);
  // Asked again it is another decision.
  await client.runs.send({ run: "e", events: [{ type: "again" }] });
  expect((await client.inbox.list()).decisions.map(({ decision }) => decision)).toEqual(["asking@3"]);
  await expect(
    client.inbox.decide({ run: "e", decision: "asking@9", verdict: "approve" }),
  ).rejects.toMatchObject({
    code: "DECISION_UNKNOWN",
  });
});

test("G4: an agent's calls stand in the inbox, and can be edited", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "helper", run: "h" });
  await client.runs.say({ run: "h", text: "Refund me" });
  await expect.poll(async () => (await client.inbox.list()).decisions.length).toBe(1);
  const [decision] = (await client.inbox.list()).decisions;
  expect(decision).toMatchObject({ kind: "tool", tool: "refund", input: { euros: 40 } });
  await client.inbox.decide({
    ...{ run: "h", decision: decision?.decision as string },
    ...{ verdict: "edit", input: { euros: 30 } },
  });
  await expect.poll(async () => (await client.runs.conversation({ run: "h" })).phase).toBe("done");
  const report = await client.runs.conversation({ run: "h" });
  expect(report.approvals.decided).toMatchObject([
    { tool: "refund", isApproved: true, input: { euros: 30 } },
  ]);
  expect(report.thread.messages.at(-1)?.parts).toEqual([{ type: "text", text: "It is done." }]);
  const last = report.thread.messages.at(-1)?.position as number;
  expect((await client.runs.conversation({ run: "h", head: last, limit: 1 })).thread.before).toBe(last - 1);
  await expect(client.runs.conversation({ run: "h", head: last + 1 })).rejects.toMatchObject({
    code: "MESSAGE_UNKNOWN",
  });
});
