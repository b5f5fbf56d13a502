/** Whether a SQLite file is sound, of this version, and who has it. It changes nothing. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isHeld } from "../../store/lease.ts";
import { leaseOf } from "../../store/rows.ts";
import { integrityOf } from "../../store/sqlite/integrity.ts";
import { identify } from "../../store/sqlite/migrate.ts";
import { migrations } from "../../store/sqlite/schema.ts";
import { describe } from "../terminal.ts";
import { checkDisk } from "./disk.ts";
import { bad, type Finding, good, warning } from "./finding.ts";
import { judgeVersion } from "./fleet.ts";

export async function checkSqlite(path: string): Promise<readonly Finding[]> {
  if (!existsSync(path))
    return [
      warning(
        "file",
        `there is no ${path}`,
        "the first worker makes it; check the path if there should be one",
      ),
    ];
  const version = versionOf(path);
  const findings = [judgeVersion(version, migrations.length)];
  if (typeof version !== "number") return findings;
  const problem = await integrityOf(path).catch(describe);
  const integrity =
    problem === undefined
      ? good("integrity", "the whole file was read and is sound")
      : bad(
          "integrity",
          problem,
          "restore it from a backup, or see what repair of holdfast/housekeeping can save",
        );
  return [...findings, integrity, await checkDisk(path), ...(version > 0 ? [ownerOf(path)] : [])];
}

function versionOf(path: string): unknown {
  try {
    return using(path, (database) => {
      identify(database, path);
      return database.prepare("PRAGMA user_version").get()?.user_version;
    });
  } catch (error) {
    return error;
  }
}

function ownerOf(path: string): Finding {
  try {
    const lease = leaseOf(using(path, (database) => database.prepare("SELECT * FROM lease").get()) as never);
    return isHeld(lease, Date.now())
      ? good("owner", lease.owner as string)
      : warning("owner", "none", "start one: holdfast worker MODULE --store …");
  } catch (error) {
    return bad("owner", describe(error), "restore the file from a backup");
  }
}

function using<Answer>(path: string, work: (database: DatabaseSync) => Answer): Answer {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
