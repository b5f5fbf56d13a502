/** Bugs to plant in the sources of boards: what the proof must find. */
import { bugCalled, type Change } from "../simulation/plant.ts";

export interface Bug {
  readonly name: string;
  /** Where it is hunted. */
  readonly among: "cells" | "leases";
  /** What the problem that it shows as says. */
  readonly shows: string;
  readonly changes: readonly Change[];
}

const [write, lease, open] = ["write", "lease", "open"].map((name) => `src/agent/board/${name}.ts`) as [
  string,
  string,
  string,
];

export const bugs: readonly Bug[] = [
  {
    name: "a-version-is-not-compared",
    among: "cells",
    shows: "not linearizable",
    changes: [{ file: write, find: "ifVersion === version ||", replace: "ifVersion !== undefined ||" }],
  },
  {
    name: "a-merge-forgets-what-stands-there",
    among: "cells",
    shows: "not linearizable",
    changes: [{ file: write, find: "key.merge(standing.value, yours)", replace: "yours" }],
  },
  {
    name: "an-update-thinks-of-what-was",
    among: "cells",
    shows: "not linearizable",
    changes: [
      { file: open, find: "seen = outcome;", replace: "seen = { ...seen, version: outcome.version };" },
    ],
  },
  {
    name: "what-was-read-is-read-again-from-memory",
    among: "cells",
    shows: "not linearizable",
    changes: [
      {
        file: open,
        find: "const standing = (await this.run.state()).context.entries[key];",
        replace: `this.kept ??= this.run.state();
    setTimeout(() => (this.kept = undefined), 300);
    const standing = (await this.kept).context.entries[key];`,
      },
    ],
  },
  {
    name: "a-lease-is-given-to-whoever-asks",
    among: "leases",
    shows: "S1",
    changes: [{ file: lease, find: "if (!isBlocked(board, names)) {", replace: "if (names.length > 0) {" }],
  },
  {
    name: "a-lease-ends-early",
    among: "leases",
    shows: "S2",
    changes: [{ file: lease, find: "until: at + ms };", replace: "until: at + ms / 3 };" }],
  },
  {
    name: "a-token-comes-again",
    among: "leases",
    shows: "S2",
    changes: [{ file: lease, find: "board.token++;", replace: "board.token = board.grants.length + 1;" }],
  },
  {
    name: "a-fence-lets-everybody-through",
    among: "leases",
    shows: "S3",
    changes: [
      {
        file: write,
        find: "const grant = fence === undefined",
        replace: "if (fence !== undefined) return undefined;\n  const grant = fence === undefined",
      },
    ],
  },
  {
    name: "the-last-to-come-is-served-first",
    among: "leases",
    shows: "S4",
    changes: [
      { file: lease, find: "board.queue.push({ names, by", replace: "board.queue.unshift({ names, by" },
    ],
  },
];

/** The bug of a name. */
export const findBug = (name: string): Bug => bugCalled(bugs, name);
