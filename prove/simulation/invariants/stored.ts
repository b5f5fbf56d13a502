/** What the store holds by the end, row by row: journals as they were written, and nothing of what is gone (invariant 29). */
import { verify } from "../../../src/runtime/housekeeping/index.ts";
import { Past } from "../../../src/runtime/live/past.ts";
import { noSeal } from "../../../src/runtime/seal.ts";
import type { Store } from "../../../src/store/store.ts";
import { digestOf, type Model, type ModelRun } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** More than any world has. */
const limit = 100_000;

/** The journal of a run, byte for byte from where it begins, and the state it stands on. */
export async function compareJournal(store: Store, run: ModelRun, report: Report): Promise<void> {
  const { head, entries, pruned } = run;
  const rows = await store.readJournal(head, 1, limit);
  const wanted = entries.slice(pruned).map(({ seq, digest }) => `${seq} ${digest}`);
  let before = entries[pruned - 1]?.digest ?? "";
  for (const row of rows) {
    if (row.digest !== digestOf(before, row))
      report(29, `entry ${row.seq} of ${head.run} is not as it was written`);
    before = row.digest;
  }
  if (
    !isSame(
      rows.map(({ seq, digest }) => `${seq} ${digest}`),
      wanted,
    )
  )
    report(29, `the journal of ${head.run} has ${rows.length} entries, and should have ${wanted.length}`);
  if (pruned === 0) return;
  try {
    const { state } = await new Past(store, noSeal).at(head, pruned);
    if (!isSame(state, entries[pruned - 1]?.stepped.state))
      report(29, `the state that the journal of ${head.run} begins with is another one`);
  } catch (error) {
    report(29, `the state that the journal of ${head.run} begins with is gone: ${error}`);
  }
}

/** Nothing is left of what was removed, and all that is there belongs together. */
export async function compareRows(store: Store, model: Model, report: Report): Promise<void> {
  const rows = await store.scan("run", { limit });
  const found = rows.map(({ row }) => row?.run).sort();
  if (!isSame(found, [...model.runs.keys()].sort()))
    report(29, `there are the runs ${found}, and should be ${[...model.runs.keys()]}`);
  const { problems } = await verify({ store });
  for (const { kind, run, problem } of problems) report(29, `${kind} of ${run}: ${problem}`);
  if (!model.isSwept) return;
  const subjects = new Set([...model.runs.values()].map(({ head }) => head.subject));
  for (const { row } of await store.scan("content", { limit }))
    if (row !== undefined && !subjects.has(row.subject))
      report(29, `a text of ${row.subject} is left, and nothing else of it`);
}
