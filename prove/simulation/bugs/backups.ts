/** Bugs of backups: what is in one, and which one it is. */
import type { Bug } from "./bug.ts";

export const backupBugs: readonly Bug[] = [
  {
    name: "backup without what is in the log",
    file: "src/store/sqlite/backup.ts",
    find: "await backup(source, destination, { rate: allPages });",
    replace: '(await import("node:fs")).copyFileSync(path, destination);',
    catches: [30],
    from: 50,
  },
  {
    name: "backup made of the one before",
    file: "src/runtime/housekeeping/backup.ts",
    find: "await store.backup(partial);",
    replace:
      "const last = listBackups(directory).at(-1);\n  if (last === undefined) await store.backup(partial);\n  else await cp(last.path, partial);",
    catches: [30],
    from: 250,
  },
  {
    name: "newest backup not kept",
    file: "src/runtime/housekeeping/backup.ts",
    find: "for (const old of unkept(listBackups(directory), keep)) if (old.path !== path) removeFile(old.path);",
    replace: "for (const old of listBackups(directory).slice(-1)) if (keep.last) removeFile(old.path);",
    catches: [30],
    from: 50,
  },
];
