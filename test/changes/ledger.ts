/** Rows of a ledger become runs and notes in them: the first row of an account starts its run, the others are sent to it. */
import type { Runtime } from "../../src/index.ts";
import { type TableChanges, watchTables } from "../../src/runtime/changes/index.ts";
import { notebook } from "./world.ts";

export function watchLedger(runtime: Runtime, database: string): Promise<TableChanges> {
  return watchTables({
    runtime,
    database,
    rules: {
      opened: {
        table: "ledger",
        on: ["insert"],
        when: "NEW.place = 0",
        start: {
          machine: notebook,
          id: ({ new: row }) => `account-${row.account}`,
          input: ({ new: row }) => row,
        },
      },
      booked: {
        table: "ledger",
        on: ["insert"],
        when: "NEW.place > 0",
        send: { run: ({ new: row }) => `account-${row.account}`, type: "note", data: ({ new: row }) => row },
      },
    },
  });
}
