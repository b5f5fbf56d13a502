/** Whether the world outside and the journal agree: what the agent called took effect once, and counted once. */

import type { Paint } from "./draw.ts";
import { firstRun, ledgerPath, storePath } from "./folder.ts";
import { type RunRecord, readRuns } from "./read-journal.ts";
import { type LedgerLine, readLedger } from "./world.ts";

export interface Check {
  readonly what: string;
  readonly holds: boolean;
}

/** One call of a tool, however often it was tried. */
export interface CallRecord {
  readonly tool: string;
  readonly key: string;
  readonly tries: number;
  readonly lost: number;
  readonly effects: number;
}

export interface Verdict {
  readonly calls: readonly CallRecord[];
  readonly checks: readonly Check[];
}

/** Kills there must have been: two in calls and one while waiting, then two while publishing or one while undoing. */
const killsExpected = { approve: 5, withdraw: 4 } as const;
const endExpected = { approve: "published", withdraw: "withdrawn" } as const;

/** The calls in a ledger. Asking the publisher what it has changes nothing and is no call that must happen once. */
export function callsOf(ledger: readonly LedgerLine[]): CallRecord[] {
  const acts = ledger.filter(({ tool }) => tool !== "findPublication");
  return [...Map.groupBy(acts, ({ tool, key }) => `${tool} ${key}`).values()].map((lines) => ({
    ...{ tool: lines[0]?.tool ?? "", key: lines[0]?.key ?? "" },
    tries: lines.length,
    lost: lines.filter(({ lost }) => lost).length,
    effects: lines.filter(({ effect }) => effect).length,
  }));
}

/** The keys under which a run's activities were begun, and those whose end it took, as tools see them. */
function activitiesOf({ head, entries }: RunRecord): { begun: string[]; ended: string[] } {
  const begun = entries.flatMap(({ effects }) =>
    effects.flatMap((effect) => (effect.type === "activity" ? `${head.run}:${effect.key}` : [])),
  );
  const ended = entries.flatMap(({ event, outcome }) =>
    event.invocation !== undefined && outcome === "taken" ? `${head.run}:${event.invocation}` : [],
  );
  return { begun, ended: ended.filter((key) => begun.includes(key)) };
}

/** Reads the folder that the example leaves, and judges it. */
export async function verify(folder: string, decision: "approve" | "withdraw"): Promise<Verdict> {
  const ledger = readLedger(ledgerPath(folder));
  const calls = callsOf(ledger.calls);
  const kills = ledger.kills.length;
  const runs = await readRuns(storePath(folder));
  const first = runs.find(({ head }) => head.run === firstRun);
  const all = runs.map(activitiesOf);
  const begun = all.flatMap((one) => one.begun);
  const ended = all.flatMap((one) => one.ended);
  // One activity may make several calls, each under a key that begins with its own.
  const called = new Set(calls.map(({ key }) => key.split("#")[0] ?? ""));
  const clicks = first?.entries.filter(
    ({ event, outcome }) => event.type === decision && outcome === "taken",
  );
  const checks: Check[] = [
    { what: `killed ${kills} times with SIGKILL`, holds: kills === killsExpected[decision] },
    {
      what: `finished in ${endExpected[decision]}`,
      holds:
        first?.head.status === "done" && first.states.at(-1)?.configuration.join() === endExpected[decision],
    },
    {
      what: `${calls.length} calls, and each took effect exactly once`,
      holds: calls.length > 0 && calls.every(({ effects }) => effects === 1),
    },
    {
      what: `${begun.length} activities in the journal, and each answer was applied exactly once`,
      holds: begun.length > 0 && isSameSet(begun, ended) && isSameSet(ended, [...called]),
    },
    { what: "a click that was repeated is one event", holds: clicks?.length === 1 },
    {
      what: `${first?.entries.length} steps without a gap, each chained to the one before`,
      holds: first?.entries.every(({ seq }, index) => seq === index + 1) === true,
    },
  ];
  return { calls, checks };
}

/** Whether two lists hold the same, and neither holds anything twice. */
const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === new Set(one).size &&
  one.length === other.length &&
  new Set([...one, ...other]).size === one.length;

/** The ledger as a table, and what was checked. */
export function showVerdict({ calls, checks }: Verdict, paint: Paint): string[] {
  const width = Math.max(...calls.map(({ key }) => key.length));
  const rows = calls.map(({ tool, key, tries, lost, effects }) => {
    const why = [
      tries > 1 ? `tried ${tries} times` : "",
      lost > 0 ? `killed ${lost === 1 ? "once" : `${lost} times`} meanwhile` : "",
    ];
    const line = `  ${tool.padEnd(8)} ${key.padEnd(width)}  ${effects === 1 ? "once" : `${effects} times`}`;
    return (
      paint(effects === 1 ? "good" : "bad", line) + paint("quiet", `  ${why.filter(Boolean).join(", ")}`)
    );
  });
  const marks = checks.map(({ what, holds }) =>
    paint(holds ? "good" : "bad", `${holds ? "✓" : "✗"} ${what}`),
  );
  return [
    "",
    paint("strong", "What took effect in the world outside, by its own ledger:"),
    ...rows.map((row) => row.trimEnd()),
    "",
    ...marks,
  ];
}
