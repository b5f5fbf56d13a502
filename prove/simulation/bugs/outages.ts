/** Bugs of outages: what is noted of them, who hears of them, and how far they move a timer. */
import type { Bug } from "./bug.ts";

export const outageBugs: readonly Bug[] = [
  {
    name: "outage not noted",
    file: "src/store/lease.ts",
    find: "const before = isFresh(lease) ?",
    replace: "const before = isFresh(lease) || lease.from >= now - 2_000 ?",
    catches: [24],
  },
  {
    name: "outages before the last forgotten",
    file: "src/store/lease.ts",
    find: "withOutages(lease.outages, before,",
    replace: "withOutages([], before,",
    catches: [24],
  },
  {
    name: "run not told of an outage",
    file: "src/runtime/waker.ts",
    find: "if (outages.length > 0) this.#deliver(run, resumeEvent(outages));",
    replace: "if (outages.length > 1) this.#deliver(run, resumeEvent(outages));",
    catches: [24],
    from: 15,
  },
  {
    name: "outage counted from its beginning for a timer set within it",
    file: "src/core/timer.ts",
    find: "const begin = Math.max(from, since);",
    replace: "const begin = from;",
    catches: [24],
    from: 15,
  },
  {
    name: "timer that begins again keeps what was left",
    file: "src/core/timer.ts",
    find: 'due = resume === "remaining" ? due + until - begin :',
    replace: "due = resume !== undefined ? due + until - begin :",
    catches: [24],
    from: 40,
  },
  {
    name: "outage counted again at every reading",
    file: "src/core/timer.ts",
    find: "    since = until;\n",
    replace: "    since = Math.max(since, from) + 1;\n",
    catches: [3, 24],
    from: 32,
  },
];
