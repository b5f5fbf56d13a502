/** Making what was deleted unreadable, for whoever gets hold of the store's files. */
import type { Store } from "../../store/store.ts";
import type { Scrubbing } from "../../store/upkeep.ts";
import { sweep } from "./sweep.ts";

/**
 * Deletes the rows of what was removed and pruned, and has them overwritten where a store keeps files of its own. SQLite writes
 * its file anew for that, and takes no steps meanwhile. PostgreSQL overwrites rows when it vacuums.
 */
export async function scrub({ store }: { readonly store: Store }): Promise<void> {
  await sweep({ store });
  await (store as Partial<Scrubbing>).scrub?.();
}
