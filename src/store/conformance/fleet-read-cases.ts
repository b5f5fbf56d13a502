/** What members of a fleet ask about many runs at once. For stores that are shared. */
import type { Fleet } from "../fleet.ts";
import { joined, shared } from "./fleet-cases.ts";
import { commitOn, committed, eventOf, firstCommit } from "./sample.ts";
import type { Cases } from "./world.ts";

/** What is asked often, to be called by its name alone. */
const bound = (fleet: Fleet): Pick<Fleet, "readInboxes" | "readTaken"> => ({
  readInboxes: (...given) => fleet.readInboxes(...given),
  readTaken: (...given) => fleet.readTaken(...given),
});

export const fleetReadCases: Cases = {
  "readSeqs tells where runs are, in the order asked for": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    const head = await committed(store, firstCommit("run-1", epoch));
    await committed(store, commitOn(head, epoch, { steps: 3 }));
    await committed(store, firstCommit("run-2", epoch));
    const named = (run: string, tenant = "acme") => ({ tenant, run });
    const asked = [named("run-2"), named("nobody"), named("run-1"), named("run-1", "another")];
    expect(await shared(store).readSeqs(asked)).toEqual([1, 0, 4, 0]);
    expect(await shared(store).readSeqs([])).toEqual([]);
  },

  "readInboxes tells what waits for each run, in the order asked for": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    for (const run of ["run-1", "run-2", "run-3"]) await committed(store, firstCommit(run, epoch));
    const rows = [
      eventOf("e1", { run: "run-1", key: "k" }),
      eventOf("e2", { run: "run-3", expendable: true }),
      eventOf("e3", { run: "run-1", priority: 1 }),
      eventOf("e0", { run: "run-1" }),
    ];
    expect(await store.enqueue(rows)).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    const [one, expendable, urgent, early] = rows;
    const named = (run: string, tenant = "acme") => ({ tenant, run });
    const asked = [
      named("run-3"),
      named("run-2"),
      named("nobody"),
      named("run-1"),
      named("run-1", "another"),
    ];
    const { readInboxes } = bound(shared(store));
    expect(await readInboxes(asked, 9)).toEqual([[expendable], [], [], [urgent, early, one], []]);
    expect(await readInboxes([named("run-1"), named("run-1")], 2)).toEqual([
      [urgent, early],
      [urgent, early],
    ]);
    expect(await readInboxes([], 9)).toEqual([]);
  },

  "readTaken tells what became of each event, with the entry of its step": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    const begun = firstCommit("run-1", epoch, { keys: [{ key: "first", seq: 1 }] });
    const head = await committed(store, begun);
    await store.enqueue([eventOf("e1", { key: "taken" }), eventOf("e2", { key: "waiting" })]);
    const second = commitOn(head, epoch, { consumed: [{ id: "e1", seq: 2 }] });
    await committed(store, second);
    const named = (key: string, run = "run-1", tenant = "acme") => ({ tenant, run, key });
    const asked = [named("taken"), named("unseen"), named("waiting"), named("first")];
    const [entry] = second.entries;
    const [{ digest } = { digest: "" }] = begun.entries;
    const { readTaken } = bound(shared(store));
    expect(await readTaken([...asked, named("taken", "nobody"), named("taken", "run-1", "another")])).toEqual(
      [
        { seq: 2, entry, previous: digest },
        undefined,
        {},
        { seq: 1, entry: begun.entries[0] },
        undefined,
        undefined,
      ],
    );
    expect(await readTaken([])).toEqual([]);
  },

  "readTaken tells of an event whose entry was pruned, without it": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    const head = await committed(store, firstCommit("run-1", epoch, { keys: [{ key: "k", seq: 1 }] }));
    const taken = commitOn(head, epoch, { keys: [{ key: "l", seq: 2 }], withSnapshot: true });
    const next = commitOn(await committed(store, taken), epoch, { keys: [{ key: "m", seq: 3 }] });
    await committed(store, next);
    expect(await store.pruneJournal(head, 2, epoch)).toEqual(true);
    const asked = ["k", "l", "m"].map((key) => ({ tenant: "acme", run: "run-1", key }));
    const kept = { seq: 3, entry: next.entries[0] };
    expect(await shared(store).readTaken(asked)).toEqual([{ seq: 1 }, { seq: 2 }, kept]);
    while ((await store.sweep(100)) > 0);
    expect(await shared(store).readTaken(asked)).toEqual([{ seq: 1 }, { seq: 2 }, kept]);
  },
};
