/**
 * Verifying a store: every row of every table is read, every journal folded again and compared with its snapshots and its
 * run's row. Nothing is run and nothing is changed, and whoever owns the store may go on; what they write meanwhile can
 * look like damage, so a run that seems damaged is looked at again.
 */
import type { Json } from "../../core/json.ts";
import { decode } from "../../store/codec.ts";
import { contentDigest } from "../../store/content.ts";
import type { Store } from "../../store/store.ts";
import { runKinds, type Stored } from "../../store/upkeep.ts";
import { systemTenant } from "../name.ts";
import { noSeal, type Seal } from "../seal.ts";
import { type Examined, examine } from "./examine.ts";
import { type Finding, listOf, type Premises, reasonOf, rowsOf } from "./finding.ts";
import { holdsName } from "./hold.ts";

export interface Verification {
  /** What is wrong, row by row; empty if nothing is. */
  readonly problems: readonly Finding[];
  /** How much was looked at. */
  readonly runs: number;
  readonly entries: number;
}

/** Looks through a whole store, which must be open. */
export async function verify(options: {
  readonly store: Store;
  readonly seal?: Seal;
}): Promise<Verification> {
  const { store, seal = noSeal } = options;
  const premises: Premises = { store, seal };
  const problems: Finding[] = [];
  let [runs, entries] = [0, 0];
  for await (const stored of rowsOf(store, "run")) {
    const examined = await examineStill(premises, stored);
    if (examined === undefined) continue;
    problems.push(...examined.problems);
    runs++;
    entries += examined.folded.entries;
  }
  problems.push(...(await strayRows(premises)), ...(await looseRows(premises)));
  return { problems, runs, entries };
}

/** How often a run that others write is looked at until it stands still. */
const looksMax = 5;

/** A run as it is found twice in the same way, or without a problem; undefined if it has gone meanwhile. */
async function examineStill(premises: Premises, stored: Stored<"run">): Promise<Examined | undefined> {
  let examined = await examine(premises, stored);
  for (let looks = 1; examined.problems.length > 0 && looks < looksMax; looks++) {
    const before = examined.folded.last;
    const [again] = (await listOf(premises.store, "run")).filter(({ place }) => place === stored.place);
    if (again === undefined) return undefined;
    examined = await examine(premises, again);
    if (examined.folded.last === before) break;
  }
  return examined;
}

/** Rows that belong to a run that is not there. */
export async function strayRows({ store }: Premises): Promise<Finding[]> {
  const problems: Finding[] = [];
  for (const kind of runKinds)
    for await (const { place } of rowsOf(store, kind, null))
      problems.push({ kind, place, problem: "it belongs to no run" });
  return problems;
}

/** What is wrong with rows that belong to no run by their nature. */
export async function looseRows(premises: Premises): Promise<Finding[]> {
  const { store, seal } = premises;
  const problems: Finding[] = [];
  for await (const { place, row } of rowsOf(store, "content")) {
    const problem =
      row && problemIn(() => textOf(premises, row) === undefined && "it does not match its digest");
    if (problem !== undefined)
      problems.push({ kind: "content", place, tenant: row?.tenant as string, problem });
  }
  for await (const { place, row } of rowsOf(store, "letter")) {
    const problem =
      row && problemIn(() => isRead(decode(seal.open(row.bytes, row), `dead letter ${row.number}`)));
    if (problem === undefined) continue;
    problems.push({ kind: "letter", place, ...(row && { tenant: row.tenant, run: row.run }), problem });
  }
  for await (const { place, row } of rowsOf(store, "document")) {
    // What users keep as documents is theirs to read.
    if (row === undefined || (row.tenant !== systemTenant && row.name !== holdsName)) continue;
    const problem = problemIn(() => isRead(decode(row.bytes, `the document ${row.name}`)));
    if (problem !== undefined) problems.push({ kind: "document", place, tenant: row.tenant, problem });
  }
  const leases = await listOf(store, "lease");
  if (!isLeased(leases)) problems.push({ kind: "lease", problem: "there is none that can be read" });
  return problems;
}

/** Whether there is one lease, and it can be read. */
export function isLeased(leases: readonly Stored<"lease">[]): boolean {
  return leases.length === 1 && leases[0]?.row !== undefined;
}

/** The text of a content, if it is the one its digest names. */
export function textOf({ seal }: Premises, row: NonNullable<Stored<"content">["row"]>): string | undefined {
  const text = decode(seal.open(row.bytes, row), `the content ${row.digest}`);
  return typeof text === "string" && contentDigest(text) === row.digest ? text : undefined;
}

/** Whatever could be read is as it should be. */
const isRead = (_value: Json): undefined => undefined;

function problemIn(look: () => string | false | undefined): string | undefined {
  try {
    return look() || undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
