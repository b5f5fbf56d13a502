/**
 * Every statement the store has, by name, prepared when it is first needed. Values are always bound, never written into the
 * text. `find.ts` has the only query whose shape depends on what is asked for.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** A run's row with the position that its newest entry gives. */
export const runColumns =
  "r.id, r.tenant, r.run, r.subject, r.machine, r.status, r.created_at, r.wake_at, r.snapshot_seq, r.about, r.pruned, e.seq, e.digest, e.at";
export const newestEntry = "e.run_id = r.id AND e.seq = (SELECT max(seq) FROM entry WHERE run_id = r.id)";

const queries = {
  begin: "BEGIN IMMEDIATE",
  beginReading: "BEGIN",
  commit: "COMMIT",

  readOwner: "SELECT owner, epoch FROM lease WHERE id = 1",
  readLease: "SELECT owner, epoch, taken_at, until, outages FROM lease WHERE id = 1",
  writeLease: "UPDATE lease SET owner = ?, epoch = ?, taken_at = ?, until = ?, outages = ? WHERE id = 1",
  releaseLease: `UPDATE lease SET owner = NULL, taken_at = coalesce(?, taken_at)
    WHERE id = 1 AND owner = ? AND epoch = ?`,

  endLease: "UPDATE lease SET owner = NULL WHERE id = 1",

  readRun: `SELECT ${runColumns} FROM run r JOIN entry e ON ${newestEntry} WHERE r.tenant = ? AND r.run = ?`,
  readRunStatus: "SELECT id, status, pruned FROM run WHERE tenant = ? AND run = ?",
  insertRun: `INSERT INTO run
    (tenant, run, subject, machine, status, created_at, wake_at, snapshot_seq, about, fork_run, fork_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  updateRun: `UPDATE run SET subject = ?, machine = ?, status = ?, created_at = ?, wake_at = ?, snapshot_seq = ?, about = ?,
    fork_run = ?, fork_seq = ? WHERE id = ?`,
  updateWake: "UPDATE run SET wake_at = ?, snapshot_seq = ? WHERE id = ?",
  insertAttribute: "INSERT INTO attribute (tenant, name, value, created_at, run) VALUES (?, ?, ?, ?, ?)",
  deleteAttribute:
    "DELETE FROM attribute WHERE tenant = ? AND name = ? AND value = ? AND created_at = ? AND run = ?",

  insertEntry: `INSERT INTO entry (run_id, seq, at, digest, bytes) SELECT id, ?2, ?3, ?4, ?5 FROM run WHERE id = ?1
    ON CONFLICT DO NOTHING`,
  appendEntry: `INSERT INTO entry (run_id, seq, at, digest, bytes) SELECT r.id, ?2, ?3, ?4, ?5 FROM lease l, run r
    WHERE l.id = 1 AND l.owner IS NOT NULL AND l.epoch = ?6 AND r.id = ?1 ON CONFLICT DO NOTHING`,
  readEntries:
    "SELECT seq, at, digest, bytes FROM entry WHERE run_id = ? AND seq >= ? AND seq <= ? ORDER BY seq LIMIT ?",
  insertSnapshot: "INSERT INTO snapshot (run_id, seq, bytes, kept) VALUES (?, ?, ?, ?)",
  deleteSnapshots: `DELETE FROM snapshot WHERE run_id = ?1 AND kept = 0
    AND seq <= (SELECT seq FROM snapshot WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
  readSnapshot:
    "SELECT seq, bytes, kept FROM snapshot WHERE run_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
  insertContent:
    "INSERT INTO content (tenant, subject, digest, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  readContent: "SELECT digest, bytes FROM content WHERE tenant = ? AND subject = ? AND digest = ?",

  insertEvent: `INSERT INTO inbox (run_id, id, subject, key, expendable, priority, at, open, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  hasEvent: "SELECT 1 FROM inbox WHERE run_id = ? AND id = ?",
  deleteEvent: "DELETE FROM inbox WHERE run_id = ? AND id = ? RETURNING key",
  readInbox: `SELECT id, subject, key, expendable, priority, at, bytes FROM inbox WHERE run_id = ?
    ORDER BY priority DESC, id LIMIT ?`,
  clearInbox: "DELETE FROM inbox WHERE run_id = ?",
  openInbox: "UPDATE inbox SET open = ? WHERE run_id = ?",
  insertKey: "INSERT INTO seen_key (run_id, key, seq) VALUES (?, ?, ?)",
  updateKey: "UPDATE seen_key SET seq = ? WHERE run_id = ? AND key = ?",
  readKey: "SELECT key, seq FROM seen_key WHERE run_id = ? AND key = ?",
  deleteWaitingKeys: `DELETE FROM seen_key WHERE run_id = ?1
    AND key IN (SELECT key FROM inbox WHERE run_id = ?1 AND key IS NOT NULL)`,

  insertDeadLetter: `INSERT INTO dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  buryInbox: `INSERT INTO dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
    SELECT r.tenant, r.run, i.id, i.subject, i.key, i.priority, i.at, 'ended', i.bytes
    FROM inbox i JOIN run r ON r.id = i.run_id WHERE i.run_id = ? AND i.expendable = 0
    ORDER BY i.priority DESC, i.id`,
  readDeadLetters: `SELECT number, tenant, run, id, subject, key, priority, at, reason, bytes FROM dead_letter
    WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?`,
  deleteDeadLetter: "DELETE FROM dead_letter WHERE tenant = ? AND number = ?",

  writeActivity: `INSERT INTO activity (run_id, key, activity, attempt, status, due_at, epoch, open, bytes, report)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, key) DO UPDATE SET activity = excluded.activity, attempt = excluded.attempt,
      status = excluded.status, due_at = excluded.due_at, epoch = excluded.epoch, open = excluded.open,
      bytes = excluded.bytes, report = excluded.report`,
  recordActivity: `UPDATE activity SET activity = ?, attempt = ?, status = ?, due_at = ?, epoch = ?, bytes = ?, report = ?
    WHERE run_id = (SELECT id FROM run WHERE tenant = ? AND run = ?) AND key = ?
      AND EXISTS (SELECT 1 FROM lease WHERE id = 1 AND owner IS NOT NULL AND epoch = ?)`,
  deleteActivity: "DELETE FROM activity WHERE run_id = ? AND key = ?",
  readActivities:
    "SELECT key, activity, attempt, status, due_at, bytes, report FROM activity WHERE run_id = ? ORDER BY key",
  openActivities: "UPDATE activity SET open = ? WHERE run_id = ?",

  hasDue: `SELECT EXISTS (SELECT 1 FROM inbox WHERE open = 1)
    OR EXISTS (SELECT 1 FROM run WHERE status = 'active' AND wake_at <= ?1)
    OR EXISTS (SELECT 1 FROM activity WHERE open = 1 AND status = 'waiting' AND due_at <= ?1)
    OR EXISTS (SELECT 1 FROM activity WHERE open = 1 AND status = 'running'
      AND epoch < (SELECT epoch FROM lease WHERE id = 1)) AS due`,
  dueEvents: `SELECT r.tenant, r.run, i.at AS need FROM inbox i JOIN run r ON r.id = i.run_id
    WHERE i.open = 1 ORDER BY i.at`,
  dueTimers: `SELECT tenant, run, wake_at AS need FROM run
    WHERE status = 'active' AND wake_at IS NOT NULL AND wake_at <= ? ORDER BY wake_at`,
  dueActivities: `SELECT r.tenant, r.run, a.due_at AS need FROM activity a JOIN run r ON r.id = a.run_id
    WHERE a.open = 1 AND a.status = 'waiting' AND a.due_at <= ? ORDER BY a.due_at`,
  orphanedActivities: `SELECT r.tenant, r.run, a.due_at AS need FROM activity a JOIN run r ON r.id = a.run_id
    WHERE a.open = 1 AND a.status = 'running' AND a.epoch < (SELECT epoch FROM lease WHERE id = 1) ORDER BY a.due_at`,
  // By time and not by tenant: a tenant has many more runs than there are due ones.
  dueEventsOf: `SELECT r.tenant, r.run, i.at AS need FROM inbox i CROSS JOIN run r ON r.id = i.run_id
    WHERE i.open = 1 AND i.at <= ? AND r.tenant = ? ORDER BY i.at`,
  dueTimersOf: `SELECT tenant, run, wake_at AS need FROM run
    WHERE status = 'active' AND wake_at IS NOT NULL AND wake_at <= ? AND +tenant = ? ORDER BY wake_at`,
  dueActivitiesOf: `SELECT r.tenant, r.run, a.due_at AS need FROM activity a CROSS JOIN run r ON r.id = a.run_id
    WHERE a.open = 1 AND a.status = 'waiting' AND a.due_at <= ? AND r.tenant = ? ORDER BY a.due_at`,
  orphanedActivitiesOf: `SELECT r.tenant, r.run, a.due_at AS need FROM activity a CROSS JOIN run r ON r.id = a.run_id
    WHERE a.open = 1 AND a.status = 'running' AND a.epoch < (SELECT epoch FROM lease WHERE id = 1)
      AND a.due_at <= ? AND r.tenant = ? ORDER BY a.due_at`,
  nextDue: `SELECT min(at) AS at FROM (
    SELECT min(wake_at) AS at FROM run WHERE status = 'active' AND wake_at > ?1 UNION ALL
    SELECT min(due_at) AS at FROM activity WHERE open = 1 AND status = 'waiting' AND due_at > ?1)`,

  insertChunk: `INSERT INTO chunk (run_id, key, offset, attempt, bytes) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  readChunks:
    "SELECT offset, attempt, bytes FROM chunk WHERE run_id = ? AND key = ? AND offset >= ? ORDER BY offset LIMIT ?",

  deleteRun: "DELETE FROM run WHERE id = ?",
  readMark: "SELECT mark FROM index_mark WHERE run_id = ?",
  writeMark: `INSERT INTO index_mark (run_id, mark) VALUES (?, ?)
    ON CONFLICT (run_id) DO UPDATE SET mark = excluded.mark`,
  insertText: "INSERT INTO indexed_text (run_id, id) VALUES (?, ?)",
  deleteText: "DELETE FROM indexed_text WHERE run_id = ? AND id = ? RETURNING number",
  insertWords: "INSERT INTO indexed_word (rowid, words) VALUES (?, ?)",
  deleteWords: "DELETE FROM indexed_word WHERE rowid = ?",
  findWords: `SELECT t.id FROM indexed_word JOIN indexed_text t ON t.number = indexed_word.rowid
    WHERE indexed_word MATCH ? LIMIT ?`,

  insertRemoval: "INSERT INTO removal (run_id, tenant, subject, until) VALUES (?, ?, ?, ?)",
  readForks: `SELECT r.run, r.fork_seq,
      (SELECT min(s.seq) FROM snapshot s WHERE s.run_id = r.id AND s.kept = 1) AS kept
    FROM run r WHERE r.tenant = ? AND r.fork_run = ? ORDER BY r.run`,
  hasSnapshot: "SELECT 1 FROM snapshot WHERE run_id = ? AND seq = ?",
  hasKept: "SELECT 1 FROM snapshot WHERE run_id = ? AND seq <= ? AND kept = 1",
  keepSnapshot: "UPDATE snapshot SET kept = 1 WHERE run_id = ? AND seq = ?",
  pruneRun: "UPDATE run SET pruned = ? WHERE id = ?",
  readRemoval: `SELECT id, run_id, tenant, subject, until FROM removal
    WHERE id = (SELECT min(id) FROM removal)`,
  deleteRemoval: "DELETE FROM removal WHERE id = ?",
  sweepEntries:
    "DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE run_id = ? AND seq <= ? LIMIT ?)",
  sweepSnapshots:
    "DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE run_id = ? AND seq < ? LIMIT ?)",
  sweepInbox: "DELETE FROM inbox WHERE rowid IN (SELECT rowid FROM inbox WHERE run_id = ? LIMIT ?)",
  sweepKeys: `DELETE FROM seen_key WHERE run_id = ?1
    AND key IN (SELECT key FROM seen_key WHERE run_id = ?1 LIMIT ?2)`,
  sweepActivities:
    "DELETE FROM activity WHERE rowid IN (SELECT rowid FROM activity WHERE run_id = ? LIMIT ?)",
  sweepChunks: "DELETE FROM chunk WHERE rowid IN (SELECT rowid FROM chunk WHERE run_id = ? LIMIT ?)",
  sweepWords: `DELETE FROM indexed_word
    WHERE rowid IN (SELECT number FROM indexed_text WHERE run_id = ? ORDER BY number LIMIT ?)`,
  sweepTexts: `DELETE FROM indexed_text
    WHERE number IN (SELECT number FROM indexed_text WHERE run_id = ? ORDER BY number LIMIT ?)`,
  sweepMark: "DELETE FROM index_mark WHERE run_id = ? AND ? > 0",
  sweepContents: `DELETE FROM content WHERE rowid IN (SELECT rowid FROM content WHERE tenant = ?1 AND subject = ?2
    AND NOT EXISTS (SELECT 1 FROM run WHERE tenant = ?1 AND subject = ?2) LIMIT ?3)`,

  readDocument: "SELECT version, bytes FROM document WHERE tenant = ? AND name = ?",
  insertDocument: `INSERT INTO document (tenant, name, version, bytes)
    SELECT ?, ?, version + 1, ? FROM document_removed WHERE id = 1 ON CONFLICT DO NOTHING`,
  updateDocument: `UPDATE document SET version = version + 1, bytes = ? WHERE tenant = ? AND name = ? AND version = ?`,
  deleteDocument: "DELETE FROM document WHERE tenant = ? AND name = ? AND version = ?",
  noteDocument: "UPDATE document_removed SET version = max(version, ?) WHERE id = 1",
} as const;

export const queryNames = Object.keys(queries) as readonly (keyof typeof queries)[];

export type Statements = Readonly<Record<keyof typeof queries, StatementSync>>;

/** Every statement of a connection. A cold process needs a dozen, and preparing all takes longer than reading a run. */
export function prepareQueries(database: DatabaseSync): Statements {
  return Object.create(unprepared, { database: { value: database } }) as Statements;
}

/** Whose statements these are, and how each is made when it is asked for first; the object keeps it under the same name. */
const unprepared: object = Object.defineProperties(
  {},
  Object.fromEntries(
    queryNames.map((name) => [
      name,
      {
        get(this: { readonly database: DatabaseSync }): StatementSync {
          const value = this.database.prepare(queries[name]);
          // Loading a run is mostly this, and a row takes half as long to make as a list.
          if (name === "readEntries") value.setReturnArrays(true);
          Object.defineProperty(this, name, { value });
          return value;
        },
      },
    ]),
  ),
);
