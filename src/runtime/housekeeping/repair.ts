/**
 * Repairing a store: what `verify` finds is put right, run by run, and everything that is not damaged stays as it is, byte
 * for byte. The store must be nobody's meanwhile; repair takes the right to step its runs and gives it back.
 */

import { HoldfastError } from "../../errors.ts";
import { decode } from "../../store/codec.ts";
import { contentDigest } from "../../store/content.ts";
import type { Store } from "../../store/store.ts";
import type { Mending } from "../../store/upkeep.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import { systemTenant } from "../name.ts";
import { noSeal, type Seal } from "../seal.ts";
import { examine } from "./examine.ts";
import { type Finding, listOf, type Premises, rowsOf } from "./finding.ts";
import { holdsBytes, holdsName } from "./hold.ts";
import { type MendedRun, planFor } from "./mend-run.ts";
import { withRight } from "./right.ts";
import { isLeased, looseRows, strayRows, textOf, verify } from "./verify.ts";

export interface Repair {
  /** The runs that were damaged, with where each stands now and which entries it lost. */
  readonly runs: readonly MendedRun[];
  /** Other rows that were dropped, or made anew. */
  readonly dropped: readonly Finding[];
  /** What is still wrong. */
  readonly left: readonly Finding[];
}

export interface RepairOptions {
  readonly store: Store;
  readonly seal?: Seal;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** Puts an open store right that no runtime owns; throws STORE_OWNED if one does. */
export async function repair(options: RepairOptions): Promise<Repair> {
  const { store, seal = noSeal, clock = systemClock } = options;
  const premises: Premises = { store, seal };
  const mend = mendWith(options);
  const dropped = await mendLoose(premises, clock, mend);
  const runs: MendedRun[] = [];
  await rejoin(premises, mend);
  for (const stored of await listOf(store, "run")) {
    const examined = await examine(premises, stored);
    if (examined.problems.length === 0) continue;
    const { report, mendings } = await planFor(premises, examined);
    await mend(mendings);
    runs.push(report);
  }
  // What a run that was forgotten had is gone with it; what is left belongs to nobody.
  const strays = await strayRows(premises);
  await mend(strays.map(removalOf));
  return { runs, dropped: [...dropped, ...strays], left: (await verify({ store, seal })).problems };
}

/** A run without entries may have been parted from them. */
async function rejoin({ store }: Premises, mend: Mend): Promise<void> {
  const [stray] = await store.scan("entry", { of: null, limit: 1 });
  if (stray === undefined) return;
  for (const { place } of await listOf(store, "run")) {
    const entries = await store.scan("entry", { of: place, limit: 1 });
    if (entries.length === 0) await mend([{ change: "rejoin", run: place }]);
  }
}

type Mend = (changes: readonly Mending[]) => Promise<void>;

/** Makes changes under a right that ends with them. */
function mendWith(options: RepairOptions): Mend {
  return async (changes) => {
    if (changes.length === 0) return;
    const isMended = await withRight(options, (epoch) => options.store.mend(changes, epoch()));
    if (!isMended)
      throw new HoldfastError(
        "STORE_OWNED",
        "Another process took the store while it was repaired; stop it first",
      );
  };
}

const removalOf = ({ kind, place }: Finding): Mending => ({ change: "remove", kind, place: place as string });

/** The lease first, since nothing else can be done without; then contents, which runs need. */
async function mendLoose(premises: Premises, clock: Clock, mend: Mend): Promise<Finding[]> {
  const { store } = premises;
  if (!isLeased(await listOf(store, "lease"))) await store.mend([{ change: "lease" }], 0);
  const problems = await looseRows(premises);
  const changes: Mending[] = [];
  for (const problem of problems) changes.push(...(await changesFor(premises, clock, problem)));
  await mend(changes);
  return problems;
}

async function changesFor(premises: Premises, clock: Clock, problem: Finding): Promise<Mending[]> {
  if (problem.kind === "content")
    return [removalOf(problem), ...(await renamed(premises, problem.place as string))];
  if (problem.kind === "document" && problem.tenant !== systemTenant) {
    // Nobody knows what was held, so nothing of the tenant may go until a person has looked.
    const reason = "the list of holds was damaged";
    const bytes = holdsBytes([{ everything: true, reason, at: clock.now() }]);
    return [{ change: "document", tenant: problem.tenant as string, name: holdsName, bytes }];
  }
  return problem.kind === "lease" ? [] : [removalOf(problem)];
}

/** A content whose text can be read is good; only its name was not. */
async function renamed(premises: Premises, place: string): Promise<Mending[]> {
  for await (const { place: at, row } of rowsOf(premises.store, "content")) {
    if (at !== place || row === undefined) continue;
    try {
      const text = decode(premises.seal.open(row.bytes, row), "a content");
      if (typeof text !== "string" || textOf(premises, row) !== undefined) return [];
      const { tenant, subject, bytes } = row;
      return [{ change: "content", tenant, subject, content: { digest: contentDigest(text), bytes } }];
    } catch {
      return [];
    }
  }
  return [];
}
