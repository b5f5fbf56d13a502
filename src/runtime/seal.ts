/** The seal: what stands between users' data and the store's bytes. */
import type { RunHead } from "../store/records.ts";

/** Whose bytes they are. */
export type Owner = Pick<RunHead, "tenant" | "subject">;

/** Closes bytes before they are stored and opens them after; `close` then `open` gives the same bytes. */
export interface Seal {
  close(bytes: Uint8Array, owner: Owner): Uint8Array;
  open(bytes: Uint8Array, owner: Owner): Uint8Array;
}

/** Leaves bytes as they are. */
export const noSeal: Seal = { close: (bytes) => bytes, open: (bytes) => bytes };
