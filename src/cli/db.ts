/** `holdfast db`: the store itself: its schema, its copies, and whether it is whole. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { backup, restore, verify } from "../runtime/housekeeping/index.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { addStoreOptions, type Given, misused, storeOf, textOf } from "./arguments.ts";
import { tell } from "./connect.ts";
import { exit } from "./exit.ts";
import { isServer, storeAt, storeThere } from "./open-store.ts";
import { plain, timeText } from "./table.ts";
import { commandOf, type Described, type World } from "./world.ts";

export function dbCommand(world: World): Command {
  return commandOf({
    name: "db",
    about: "The store itself: its schema, its copies, and whether it is whole.",
  })
    .addCommand(migrateCommand(world))
    .addCommand(backupCommand(world))
    .addCommand(restoreCommand(world))
    .addCommand(verifyCommand(world));
}

const storeCommand = (described: Described): Command =>
  addStoreOptions(commandOf(described)).option("--json", "tells it as JSON");

async function withStore(store: Store, act: (store: Store) => Promise<void>): Promise<void> {
  try {
    await store.open();
    await act(store);
  } finally {
    await store.close();
  }
}

function migrateCommand(world: World): Command {
  return storeCommand({
    name: "migrate",
    about: "Makes a store, or brings its schema to the version of this command.",
    examples: ["db migrate --store agents.db", "db migrate --store postgres://localhost/agents"],
  }).action((given: Given) =>
    withStore(storeAt(storeOf(given, world)), async () =>
      tell(world, given, { isCurrent: true }, () => ["The schema is current."]),
    ),
  );
}

function backupCommand(world: World): Command {
  return storeCommand({
    name: "backup",
    about:
      "Copies a SQLite store while it is used, looks the copy through, and keeps several recovery points.",
    examples: ["db backup ./backups --store agents.db"],
  })
    .argument("<folder>", "where backups are")
    .action((folder: string, given: Given) => {
      checkFile(given, world, "pg_basebackup or pg_dump");
      return withStore(storeAt(storeThere(storeOf(given, world))), async (store) => {
        const made = await backup({ store, open: sqlite, directory: resolve(world.cwd, folder) });
        const { runs, entries } = made.verified;
        tell(world, given, made, () => [
          `${made.path}: ${runs} runs, ${entries} entries, of ${timeText(made.at)}`,
        ]);
      });
    });
}

function restoreCommand(world: World): Command {
  return commandOf({
    name: "restore",
    about: "Makes a store of a backup, where none is yet, once the backup was looked through.",
    examples: ["db restore ./backups/2026-11-17T10-00-00.000Z.backup --to agents.db"],
  })
    .argument("<backup>", "a file that holdfast db backup made")
    .requiredOption("--to <path>", "where the store is to be")
    .option("--json", "tells it as JSON")
    .action(async (from: string, given: Given) => {
      const to = resolve(world.cwd, textOf(given, "to") as string);
      const verified = await restore({ from: resolve(world.cwd, from), to, open: sqlite });
      tell(world, given, { to, ...verified }, () => [
        `${to}: ${verified.runs} runs, ${verified.entries} entries`,
      ]);
    });
}

function verifyCommand(world: World): Command {
  return storeCommand({
    name: "verify",
    about: "Reads every row, folds every journal again, and tells all that does not fit. Nothing is changed.",
    examples: ["db verify --store agents.db"],
  }).action((given: Given) =>
    withStore(storeAt(storeThere(storeOf(given, world))), async (store) => {
      const { problems, runs, entries } = await verify({ store });
      if (problems.length > 0) world.end(exit.failed);
      tell(world, given, { problems, runs, entries }, () => [
        `${runs} runs, ${entries} entries, ${problems.length} problems`,
        ...problems.map((problem) => plain(JSON.stringify(problem))),
      ]);
    }),
  );
}

function checkFile(given: Given, world: World, instead: string): void {
  if (isServer(storeOf(given, world).store))
    throw misused(`A PostgreSQL store is copied by its own tools: ${instead}; see docs/high-availability.md`);
}
