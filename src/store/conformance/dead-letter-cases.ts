/** Dead letters: which events that no run takes are kept, in which order they are read, and how they go. */
import type { DeadLetterRow, InboxRow } from "../records.ts";
import type { Store } from "../store.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  headOf,
  owned,
  sample,
  tenant,
} from "./sample.ts";
import type { Cases } from "./world.ts";

const lettersOf = (store: Store, of: string = tenant): Promise<readonly DeadLetterRow[]> =>
  store.readDeadLetters(of, 0, 100);

/** Their numbers are the store's own; the rest is as it was sent. */
const shown = (letters: readonly DeadLetterRow[]): unknown =>
  letters.map(({ number: _number, ...letter }) => letter);

const lost = (row: InboxRow, reason: DeadLetterRow["reason"]): unknown => ({ ...row, reason });

/** A run that has lost these, one commit after the other. */
async function losing(store: Store, ids: readonly string[], of: string = tenant): Promise<void> {
  const epoch = await owned(store);
  let head = (await store.readHead({ tenant: of, run: "loser" })) ?? headOf({ tenant: of, run: "loser" });
  for (const id of ids) {
    const sends = [eventOf(id, { tenant: of, run: "nobody" })];
    head = await committed(store, commitOn(head, epoch, { sends }));
  }
}

export const deadLetterCases: Cases = {
  "I4: what waits when a run ends becomes dead letters, in the order it waited": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const low = eventOf("a", { priority: -1.5, at: 0.25, key: "k", subject: "bob" });
    const [first, second] = [eventOf("b", { bytes: bytesOf("\0 any bytes ✓") }), eventOf("c")];
    await store.enqueue([low, second, first]);
    await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
    const opened = await reopen();
    expect((await opened.load(sample))?.inbox).toEqual([]);
    expect(shown(await lettersOf(opened))).toEqual([first, second, low].map((row) => lost(row, "ended")));
  },

  "every way for a run to end is one, and to be parked is none": async ({ store, expect }) => {
    const epoch = await owned(store);
    for (const status of ["done", "failed", "cancelled", "parked"] as const) {
      const head = await committed(store, firstCommit(status, epoch));
      await store.enqueue([eventOf("e1", { run: status })]);
      await committed(store, commitOn(head, epoch, { head: { status } }));
    }
    expect((await lettersOf(store)).map(({ run }) => run)).toEqual(["done", "failed", "cancelled"]);
    expect((await store.readInbox({ tenant, run: "parked" }, 9)).length).toEqual(1);
  },

  "what the last step of a run takes is no dead letter, nor what is expendable": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const rows = [eventOf("taken"), eventOf("vanishes", { expendable: true }), eventOf("lost")];
    await store.enqueue(rows);
    await committed(store, commitOn(head, epoch, { consumed: ["taken"], head: { status: "failed" } }));
    expect((await lettersOf(store)).map(({ id }) => id)).toEqual(["lost"]);
    expect((await store.load(sample))?.inbox).toEqual([]);
  },

  "I4: a send to a run that is not there, or has ended, becomes a dead letter": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("ended", epoch, { head: { status: "done" } }));
    const sends = [
      eventOf("e1", { run: "nobody", key: "k", priority: 3, subject: "bob" }),
      eventOf("e1", { run: "ended" }),
      eventOf("e2", { run: "ended", key: "k" }),
      eventOf("e3", { run: "nobody", expendable: true }),
      eventOf("e4", { run: "ended", expendable: true }),
    ];
    await committed(store, commitOn(head, epoch, { sends }));
    const opened = await reopen();
    expect(shown(await lettersOf(opened))).toEqual([
      lost(sends[0] as InboxRow, "missing"),
      lost(sends[1] as InboxRow, "ended"),
      lost(sends[2] as InboxRow, "ended"),
    ]);
    expect(await opened.readHead({ tenant, run: "nobody" })).toEqual(undefined);
    expect(await opened.readInbox({ tenant, run: "ended" }, 9)).toEqual([]);
  },

  "a send to a run that ends, or begins and has ended, with the same commit becomes a dead letter": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const child = firstCommit("child", epoch, {
      head: { status: "done" },
      sends: [eventOf("to parent")],
    });
    const sends = [eventOf("to self"), eventOf("to child", { run: "child" })];
    await committed(store, commitOn(head, epoch, { sends, starts: [child], head: { status: "done" } }));
    const letters = await lettersOf(store);
    expect(letters.map(({ run, id, reason }) => [run, id, reason])).toEqual([
      ["run-1", "to self", "ended"],
      ["child", "to child", "ended"],
      ["run-1", "to parent", "ended"],
    ]);
  },

  "a repeat of what a run took before it ended is no dead letter": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("ended", epoch, { keys: ["k"], head: { status: "done" } }));
    await committed(store, commitOn(head, epoch, { sends: [eventOf("e1", { run: "ended", key: "k" })] }));
    expect(await lettersOf(store)).toEqual([]);
  },

  "the key of a dead letter is one that its run has not seen": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { keys: ["taken"] });
    await store.enqueue([eventOf("e1", { key: "k" }), eventOf("e2", { key: "vain", expendable: true })]);
    const done = await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
    expect(await store.readKeys(sample, ["k", "vain", "taken"])).toEqual([{ key: "taken", seq: 1 }]);
    expect(await store.enqueue([eventOf("e3", { key: "k" })])).toEqual(["ended"]);
    await committed(store, commitOn(done, epoch, { head: { status: "active" } }));
    expect(await store.enqueue([eventOf("e1", { key: "k" })])).toEqual(["accepted"]);
  },

  "what enqueue refuses is no dead letter, since its sender was told": async ({ store, expect }) => {
    await begun(store, { head: { status: "done" } });
    const rows = [eventOf("e1"), eventOf("e1", { run: "nobody" })];
    expect([await store.enqueue(rows), await lettersOf(store)]).toEqual([["ended", "missing"], []]);
  },

  "I1: a refused commit leaves no dead letter": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1")]);
    const plan = { head: { status: "done" }, sends: [eventOf("e2", { run: "nobody" })] } as const;
    await store.commit([
      commitOn(head, epoch + 1, plan),
      commitOn(headOf({ run: "run-2", seq: 3 }), epoch, plan),
      commitOn(headOf({ run: "run-3" }), epoch, { ...plan, consumed: ["gone"] }),
    ]);
    expect([await lettersOf(store), await store.readInbox(sample, 9)]).toEqual([[], [eventOf("e1")]]);
  },

  "dead letters are read in the order they were lost, so many after a number": async ({
    store,
    reopen,
    expect,
  }) => {
    await losing(store, ["c", "a", "b"]);
    const opened = await reopen();
    await losing(opened, ["d"]);
    const letters = await lettersOf(opened);
    expect(letters.map(({ id }) => id)).toEqual(["c", "a", "b", "d"]);
    const numbers = letters.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
    expect((numbers[0] as number) > 0).toEqual(true);
    const page = await opened.readDeadLetters(tenant, numbers[0] as number, 2);
    expect(page).toEqual(letters.slice(1, 3));
    expect(await opened.readDeadLetters(tenant, numbers[3] as number, 2)).toEqual([]);
    expect(await opened.readDeadLetters(tenant, 0, 1)).toEqual(letters.slice(0, 1));
  },

  "a dead letter is removed once, and its number is not given again": async ({ store, reopen, expect }) => {
    await losing(store, ["a", "b"]);
    const [first, second] = (await lettersOf(store)).map(({ number }) => number) as [number, number];
    expect([
      await store.removeDeadLetter(tenant, second),
      await store.removeDeadLetter(tenant, second),
    ]).toEqual([true, false]);
    const opened = await reopen();
    await losing(opened, ["c"]);
    const letters = await lettersOf(opened);
    expect(letters.map(({ id }) => id)).toEqual(["a", "c"]);
    expect(letters[0]?.number).toEqual(first);
    expect((letters[1]?.number as number) > second).toEqual(true);
  },

  "I5: dead letters are each tenant's own": async ({ store, expect }) => {
    await losing(store, ["a"]);
    await losing(store, ["b"], "globex");
    const [own] = await lettersOf(store);
    expect([own?.id, (await lettersOf(store)).length]).toEqual(["a", 1]);
    expect(await store.removeDeadLetter("globex", own?.number as number)).toEqual(false);
    expect((await lettersOf(store)).length).toEqual(1);
    expect((await lettersOf(store, "globex")).map(({ id }) => id)).toEqual(["b"]);
    expect(await lettersOf(store, "nobody")).toEqual([]);
  },

  "what a run sends to itself as it ends is lost beside what waits, also under the same key": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store, { sends: [eventOf("e1", { key: "k1" })] });
    const sends = [eventOf("e2", { key: "k1" })];
    await committed(store, commitOn(head, epoch, { head: { status: "done" }, sends }));
    const letters = await store.readDeadLetters(tenant, 0, 9);
    expect(letters.map(({ id, reason }) => [id, reason])).toEqual([
      ...[
        ["e1", "ended"],
        ["e2", "ended"],
      ],
    ]);
    expect(await store.readKeys(sample, ["k1"])).toEqual([]);
  },
};
