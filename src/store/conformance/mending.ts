/**
 * Drawing changes of `mend` for the random sequences. Rows are named by places that each store has of its own, so a change
 * is drawn as one that looks for its row, the same in every store, and names it then.
 */
import type { EntryRow, RunHead, RunName } from "../records.ts";
import type { Store } from "../store.ts";
import type { Mending, RowKind } from "../upkeep.ts";
import type { Chance } from "./chance.ts";
import { scanAll } from "./contents.ts";
import { pools } from "./pools.ts";
import { activityOf, bytesOf } from "./sample.ts";

export interface MendingScene {
  readonly chance: Chance;
  readonly model: Store;
  readonly now: number;
  readonly name: RunName;
}

/** Changes that were drawn: what is shown of them, and what they are in a store. */
export interface DrawnMending {
  readonly shown: unknown;
  on(store: Store): Promise<readonly Mending[]>;
}

const nothing: DrawnMending = { shown: "nothing", on: async () => [] };

/** Changes that leave a store in which everything can be read: nothing is removed that something else needs. */
export async function drawMending(scene: MendingScene): Promise<DrawnMending> {
  const { chance, model, name } = scene;
  const drawn = chance.below(10);
  if (drawn === 0) return { shown: "lease", on: async () => [{ change: "lease" }] };
  if (drawn === 1) return removed("letter", chance.below(4));
  if (drawn === 2) return removed(chance.pick(["content", "document"]), chance.below(4));
  if (drawn === 3) return document(scene);
  const head = await model.readHead(name);
  if (head === undefined) return nothing;
  const [entry] = await model.readJournal(name, 1 + chance.below(head.seq), 1);
  if (drawn === 4) return removed(chance.pick(["inbox", "key", "activity", "chunk"]), chance.below(3), name);
  if (drawn === 5) return ofRun(name, "forget", (run) => ({ change: "forget", run }));
  if (drawn === 6) return added(scene, head);
  if (drawn === 7) return replaced(scene, entry);
  return entry === undefined ? nothing : setBack(scene, head, entry);
}

/** One of the rows of a kind goes: the same in every store. */
function removed(kind: RowKind, index: number, name?: RunName): DrawnMending {
  return {
    shown: ["remove", kind, index],
    on: async (store) => {
      const of = name && (await placeOf(store, name));
      if (name !== undefined && of === undefined) return [];
      const found = (await scanAll(store, kind, of))[index];
      return found === undefined ? [] : [{ change: "remove", kind, place: found.place }];
    },
  };
}

function document({ chance, name: { tenant } }: MendingScene): DrawnMending {
  const [name, bytes] = [chance.pick(pools.document), bytesOf(`mended ${chance.below(100)}`)];
  return {
    shown: ["document", tenant, name],
    on: async () => [{ change: "document", tenant, name, bytes }],
  };
}

/** An activity, a key, or a content. */
function added({ chance, now, name }: MendingScene, { subject }: RunHead): DrawnMending {
  const bytes = bytesOf(`mended ${chance.below(100)}`);
  const activity = activityOf(chance.pick(pools.activity), {
    ...{ ...name, bytes, attempt: chance.below(3), dueAt: now + chance.below(5_000) },
    status: chance.pick(["waiting", "running"]),
  });
  const key = { key: chance.pick(pools.key), seq: 1 };
  const content = { digest: chance.pick(pools.digest), bytes };
  const { tenant } = name;
  return chance.pick([
    ofRun(name, ["activity", activity.key], (run) => ({ change: "activity", run, activity })),
    ofRun(name, key, (run) => ({ change: "key", run, key })),
    {
      shown: ["content", content.digest],
      on: async () => [{ change: "content", tenant, subject, content }],
    },
  ]);
}

/** An entry in the place of one, or a snapshot. */
function replaced({ chance, name }: MendingScene, before: EntryRow | undefined): DrawnMending {
  if (before === undefined) return nothing;
  const bytes = bytesOf(`mended ${chance.below(100)}`);
  const { seq } = before;
  const kept = chance.percent(50) ? { kept: true as const } : {};
  if (chance.percent(50))
    return ofRun(name, ["entry", seq], (run) => ({ change: "entry", run, entry: { ...before, bytes } }));
  return ofRun(name, ["snapshot", seq], (run) => ({
    change: "snapshot",
    run,
    snapshot: { seq, bytes, ...kept },
  }));
}

/** A run as it was at one of its checkpoints. */
async function setBack({ model, name }: MendingScene, head: RunHead, entry: EntryRow): Promise<DrawnMending> {
  const { seq, digest, at: updatedAt } = entry;
  const at = await model.readAt(name, seq);
  const back = { ...head, seq, digest, updatedAt, snapshotSeq: at?.snapshot?.seq ?? 0 };
  return ofRun(name, ["set", seq], (run) => ({ change: "set", run, head: back }));
}

function ofRun(name: RunName, shown: unknown, change: (run: string) => Mending): DrawnMending {
  return {
    shown,
    on: async (store) => {
      const place = await placeOf(store, name);
      return place === undefined ? [] : [change(place)];
    },
  };
}

/** Where a run stands in a store. */
async function placeOf(store: Store, { tenant, run }: RunName): Promise<string | undefined> {
  const runs = await scanAll(store, "run");
  return runs.find(({ row }) => row.tenant === tenant && row.run === run)?.place;
}
