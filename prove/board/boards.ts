/** The boards of the proof, and how what is done on them is told to the checker of cells. */
import { defineBoard } from "../../src/agent/board/board.ts";

export const board = defineBoard({
  id: "proof",
  keys: {
    /** Written blindly; what is written says where it is from. */
    register: { policy: "last-write" },
    /** Added to by a merge. */
    counter: { policy: { merge: "sum" } },
    /** Written for a version. No value comes twice, so that a version and a value are the same to the checker. */
    lock: { policy: "reject" },
    /** Added to by reading, thinking and writing until nobody was faster. */
    tally: { policy: "reject" },
    /** Read and written by whoever has the lease, and by nobody else. */
    guarded: { policy: "last-write", lease: "door" },
  },
  merges: { sum: (current, yours) => Number(current) + Number(yours) },
  leases: ["door", "window"],
});

export type CellName = "register" | "counter" | "lock" | "tally" | "guarded";

/** The board on which leases are taken; the others have cells, so many writes of each process on one. */
export const doors = "doors";
export const cellsBoard = (write: number, perBoard: number): string =>
  `cells-${Math.floor(write / perBoard)}`;

/** What the checker calls a key of a board. */
export const cellOf = (id: string, key: CellName): string => `${key} of ${id}`;
