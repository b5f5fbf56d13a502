/** Whether a store is of this version and those who share it see to everything. */
import { isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { MemberRow } from "../../store/members.ts";
import { isAlive } from "../../store/members.ts";
import { describe } from "../terminal.ts";
import { amount, bad, type Finding, good, seconds, warning } from "./finding.ts";

/** What was due before that and is due still has been left. */
export const leftAfterMs = 10_000;
/** Dead rows are cleared away when they are a fifth of a table; twice that, and it is not done. */
const deadShareMax = 0.4;
const deadMin = 100_000;

const versionRemedies: Readonly<Record<string, string>> = {
  STORE_FOREIGN: "give --schema the name of the store's own schema, or one that is free",
  STORE_NEWER: "install the Holdfast that wrote it, or a newer one",
};

/** `found`: the version of the store, or the error of asking for it. */
export function judgeVersion(found: unknown, newest: number): Finding {
  if (typeof found !== "number") {
    const code = isHoldfastError(found) ? found.code : "";
    return bad(
      "store version",
      describe(found),
      versionRemedies[code] ??
        "check the address and whether it may be read; what is damaged is restored from a backup",
    );
  }
  if (found === 0)
    return warning(
      "store version",
      "there is no store yet",
      "the first worker makes it; check --schema if there should be one",
    );
  return found < newest
    ? warning(
        "store version",
        `${found}, this program has ${newest}`,
        "the next worker of this version migrates it; older ones are refused then",
      )
    : good("store version", `${found}`);
}

export interface FleetFacts {
  readonly members: readonly MemberRow[];
  readonly owner: string | undefined;
  readonly now: number;
  /** Runs that have been due for `leftAfterMs`. */
  readonly left: number;
  readonly parked: number;
  readonly deadLetters: number;
}

export function judgeFleet({
  members,
  owner,
  now,
  left,
  parked,
  deadLetters,
}: FleetFacts): readonly Finding[] {
  const max = limits.dueCountedMax;
  const alive = members.filter((member) => isAlive(member, now));
  const found = alive.map(
    ({ worker, running, slots, isLeaving }) =>
      `${worker} (${running}/${slots}${isLeaving ? ", leaving" : ""})`,
  );
  const lapsed = members.filter((member) => !isAlive(member, now));
  return [
    owner !== undefined
      ? warning(
          "workers",
          `${owner} owns the whole store`,
          "wait until it has ended: it is a tool, or was opened with shared: false",
        )
      : alive.length === 0
        ? warning("workers", "none", "start some: holdfast worker MODULE --store …")
        : good("workers", `${alive.length}: ${found.join(", ")}`),
    lapsed.length === 0
      ? good("lapsed leases", "none")
      : warning(
          "lapsed leases",
          lapsed.map(({ worker, until }) => `${worker} for ${seconds(now - until)}`).join(", "),
          "nothing, while another worker lives: it puts them out within seconds",
        ),
    left === 0
      ? good("due runs", `none for longer than ${seconds(leftAfterMs)}`)
      : bad(
          "due runs",
          `${amount(left, "run", max)} for longer than ${seconds(leftAfterMs)}`,
          "start workers that know their machines; if there are some, see what they note, and whether they are too few",
        ),
    parked === 0
      ? good("parked runs", "none")
      : warning(
          "parked runs",
          amount(parked, "run", max),
          "see why with run.parked(), mend it, then run.retry()",
        ),
    deadLetters === 0
      ? good("dead letters", "none")
      : warning(
          "dead letters",
          amount(deadLetters, "event", max),
          "read them with runtime.deadLetters, then deliver or remove them",
        ),
  ];
}

/** Whether what one worker tells reaches the others. */
export function judgeSignals(problem: unknown): Finding {
  return problem === undefined
    ? good("signals", "what is notified is heard")
    : warning(
        "signals",
        describe(problem),
        "give --signals a URL of the server itself; until then workers look for work ten times a second",
      );
}

export interface TableFacts {
  readonly name: string;
  readonly live: number;
  readonly dead: number;
}

export interface SpaceFacts {
  readonly bytes: number;
  readonly database_bytes: number;
  readonly partitions: number;
  readonly tables: readonly TableFacts[];
}

export function judgeSpace({ bytes, database_bytes, partitions, tables }: SpaceFacts): readonly Finding[] {
  const mib = (size: number): string => `${Math.round(size / 2 ** 20)} MiB`;
  const bloated = tables.filter(({ live, dead }) => dead > deadMin && dead > deadShareMax * (live + dead));
  const journal = partitions === 0 ? "a journal in one piece" : `a journal in ${partitions} partitions`;
  return [
    good("space", `${mib(bytes)} of ${mib(database_bytes)} in the database, ${journal}`),
    bloated.length === 0
      ? good("dead rows", "few")
      : warning(
          "dead rows",
          bloated.map(({ name, dead }) => `${dead} in ${name}`).join(", "),
          "let autovacuum run more often on these tables, and see what holds it back",
        ),
  ];
}
