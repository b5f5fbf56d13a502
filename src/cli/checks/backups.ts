/** Whether there is a moment to go back to: judged from what a server says of its archive, as data. */
import { amount, bad, type Finding, good, warning } from "./finding.ts";

/** What the server says, in one row of `backupsQuery`. */
export interface BackupsFacts {
  readonly is_standby: boolean;
  readonly archive_mode: string;
  /** Whether it was told how: by a command or a library. */
  readonly can_archive: boolean;
  readonly archived: number;
  /** The piece of the log that could not be archived, if that is how the last try ended. */
  readonly failing: string | null;
  /** Programs that take the log as it is written. */
  readonly receivers: number;
}

export const backupsQuery = `SELECT pg_is_in_recovery() AS is_standby, current_setting('archive_mode') AS archive_mode,
  (current_setting('archive_command') NOT IN ('', '(disabled)')
    OR coalesce(current_setting('archive_library', true), '') <> '') AS can_archive,
  archived_count::float8 AS archived,
  CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN last_failed_wal END AS failing,
  (SELECT count(*)::int FROM pg_stat_replication WHERE application_name IN ('pg_receivewal', 'barman_receive_wal'))
    AS receivers
  FROM pg_stat_archiver`;

const pilesUp = "until then the log piles up, until the disk is full";

/** Nothing of a standby: its primary is the one that archives. */
export function judgeBackups(facts: BackupsFacts): readonly Finding[] {
  const { is_standby, archive_mode, can_archive, archived, failing, receivers } = facts;
  if (is_standby) return [];
  const isOn = archive_mode !== "off";
  if (isOn && !can_archive)
    return [bad("backups", "archive_mode is on without a command", `set archive_command; ${pilesUp}`)];
  if (isOn && failing !== null)
    return [
      bad(
        "backups",
        `${failing} could not be archived`,
        `the server's log says why; mend archive_command or where it copies to; ${pilesUp}`,
      ),
    ];
  if (isOn) return [good("backups", `${amount(archived, "piece")} of the log archived`)];
  return receivers > 0
    ? [good("backups", `${amount(receivers, "program")} of backups take the log as it is written`)]
    : [
        warning(
          "backups",
          "the log is not archived: what a mistake or a lost disk takes cannot be brought back",
          "set archive_mode and archive_command and take base backups, unless whoever runs the server does it otherwise",
        ),
      ];
}
