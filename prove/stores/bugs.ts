/** Bugs to plant: differences between the stores that the proof must find. Each changes one adapter as it is loaded. */
import type { Change } from "../simulation/plant.ts";
import type { StoreName } from "./grounds.ts";

export interface Bug extends Change {
  readonly name: string;
  /** The store it is in. */
  readonly store: StoreName;
  /** What finds it: sequences of the port's verbs, or scripts on the runtime. */
  readonly part: "sequences" | "scripts";
  /** The seed that finds it, if not the first. */
  readonly seed?: number;
}

const sqlite = { store: "SQLite", file: "src/store/sqlite/queries.ts" } as const;
const find = { store: "SQLite", file: "src/store/sqlite/find.ts" } as const;
const file = { store: "file", file: "src/store/file/rows.ts" } as const;
const postgres = { store: "PostgreSQL", file: "src/store/postgres/queries.ts" } as const;
const functions = { store: "PostgreSQL", file: "src/store/postgres/inbox-functions.ts" } as const;
const upkeep = { store: "PostgreSQL", file: "src/store/postgres/upkeep-functions.ts" } as const;

export const bugs: readonly Bug[] = [
  {
    name: "equal-priorities-come-newest-first",
    ...{ ...sqlite, part: "sequences" },
    find: "WHERE run_id = ?\n    ORDER BY priority DESC, id LIMIT ?",
    replace: "WHERE run_id = ?\n    ORDER BY priority DESC, id DESC LIMIT ?",
  },
  {
    name: "a-page-begins-with-the-last-run-of-the-one-before",
    ...{ ...find, part: "sequences" },
    find: ".run) < (:afterCreatedAt",
    replace: ".run) <= (:afterCreatedAt",
  },
  {
    name: "runs-are-found-by-one-of-several-attributes",
    ...{ ...find, part: "scripts", seed: 3 },
    find: "if (others.length > 0)",
    replace: "if (others.length > 9)",
  },
  {
    name: "an-orphan-is-found-under-its-own-epoch",
    ...{ ...sqlite, part: "sequences" },
    find: "a.epoch < (SELECT epoch FROM lease WHERE id = 1) ORDER BY",
    replace: "a.epoch <= (SELECT epoch FROM lease WHERE id = 1) ORDER BY",
  },
  {
    name: "snapshots-that-are-kept-go-too",
    ...{ ...sqlite, part: "sequences" },
    find: "DELETE FROM snapshot WHERE run_id = ?1 AND kept = 0\n",
    replace: "DELETE FROM snapshot WHERE run_id = ?1\n",
  },
  {
    name: "an-activity-forgets-its-report",
    ...{ ...sqlite, part: "scripts", seed: 10 },
    find: "due_at = ?, epoch = ?, bytes = ?, report = ?\n",
    replace: "due_at = ?, epoch = ?, bytes = ?, report = substr(?, 1, 0)\n",
  },
  {
    name: "expendable-events-become-dead-letters-after-a-restart",
    ...{ ...file, part: "sequences" },
    find: '...(fields.flag("expendable") ? { expendable: true } : {}),',
    replace: "",
  },
  {
    name: "a-fork-forgets-its-source-after-a-restart",
    ...{ ...file, part: "scripts" },
    find: '...fields.optional("fork", fields.object<NonNullable<RunHead["fork"]>>),',
    replace: "",
  },
  {
    name: "an-outage-is-forgotten-after-a-restart",
    ...{ ...file, part: "scripts" },
    find: 'return { from: fields.number("from"), until: fields.number("until") };',
    replace: 'return { from: fields.number("until"), until: fields.number("until") };',
  },
  {
    name: "a-repeat-after-the-end-is-told-to-be-late",
    ...{ ...functions, part: "sequences" },
    find: ".seen_key WHERE run_id = p_run_id AND key = v_key) THEN",
    replace: ".seen_key WHERE v_status IN ('active', 'parked') AND run_id = p_run_id AND key = v_key) THEN",
  },
  {
    name: "the-checkpoint-that-was-pruned-to-is-not-there",
    ...{ ...postgres, part: "sequences" },
    find: "$3 BETWEEN greatest(1, r.pruned) AND e.seq)",
    replace: "$3 BETWEEN 1 + r.pruned AND e.seq)",
  },
  {
    name: "what-a-fork-stands-on-is-removed",
    ...{ ...upkeep, part: "sequences", seed: 5 },
    find: ".forks(r.tenant, r.run) f WHERE f.stands)",
    replace: ".forks(r.tenant, r.run) f WHERE f.stands AND f.run = '')",
  },
  {
    name: "texts-are-read-in-no-order",
    ...{ ...postgres, part: "sequences" },
    find: 'AND s.key = w.key COLLATE "C" ORDER BY w.place',
    replace: 'AND s.key = w.key COLLATE "C" ORDER BY s.key DESC',
  },
  {
    name: "a-letter-has-no-subject",
    ...{ ...functions, part: "scripts", seed: 4 },
    find: "UNION ALL SELECT s.item, s.place, s.tenant, s.run, s.id, s.subject,",
    replace: "UNION ALL SELECT s.item, s.place, s.tenant, s.run, s.id, s.tenant,",
  },
];
