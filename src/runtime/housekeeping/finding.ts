/** What is wrong with a row of a store, as tools tell it. */
import type { RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { RowKind, ScanQuery, Stored } from "../../store/upkeep.ts";
import type { Seal } from "../seal.ts";

/** A store to look through, and how its bytes are opened. */
export interface Premises {
  readonly store: Store;
  readonly seal: Seal;
}

export interface Finding extends Partial<RunName> {
  /** Which table it stands in. */
  readonly kind: RowKind;
  readonly place?: string;
  readonly seq?: number;
  readonly problem: string;
}

/** Rows that are read at a time. */
const pageSize = 200;

/** All rows of a kind, page by page. */
export async function* rowsOf<Kind extends RowKind>(
  store: Store,
  kind: Kind,
  of?: string | null,
): AsyncGenerator<Stored<Kind>> {
  let query: ScanQuery = of === undefined ? { limit: pageSize } : { of, limit: pageSize };
  for (;;) {
    const page = await store.scan(kind, query);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    query = { ...query, after: last.place };
  }
}

/** The same as a list, for what a run has little of. */
export async function listOf<Kind extends RowKind>(
  store: Store,
  kind: Kind,
  of?: string | null,
): Promise<Stored<Kind>[]> {
  const rows: Stored<Kind>[] = [];
  for await (const row of rowsOf(store, kind, of)) rows.push(row);
  return rows;
}

/** What went wrong while something was read. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
