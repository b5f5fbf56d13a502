/**
 * Every statement the store has, by name. Values are always bound, never written into the text. `find.ts` has the only
 * query whose shape depends on what is asked for.
 */
import { findWords } from "./search-functions.ts";

/**
 * The same statement, refused with 55000 by a standby before it reads anything: what a replica has may be old, and nothing
 * is decided by it. It stands in the statement, since a pooler may give every one another server.
 */
export const onPrimary = (text: string): string => `SELECT q.* FROM (${text}) q WHERE (SELECT
  CASE WHEN pg_is_in_recovery() THEN pg_current_wal_insert_lsn() IS NOT NULL ELSE true END)`;

/** A run's row with the position that its newest entry gives. */
export const runColumns =
  "r.id, r.tenant, r.run, r.subject, r.machine, r.status, r.created_at, r.wake_at, r.snapshot_seq, r.about, e.seq, e.digest, e.at";

export const newestEntry = (schema: string): string =>
  `CROSS JOIN LATERAL (SELECT seq, digest, at FROM ${schema}.entry WHERE run_id = r.id ORDER BY seq DESC LIMIT 1) e`;

/** The time by the database's clock, as this project counts it. */
const clock = "extract(epoch FROM clock_timestamp())::float8 * 1000";

const eventColumns = "id, subject, key, expendable, priority, at, bytes";

/** Where a whole run is read from: its newest snapshot. */
const fromSnapshot = (schema: string): string =>
  `snapshot AS (SELECT s.seq, s.bytes, s.kept FROM ${schema}.snapshot s JOIN head h ON s.run_id = h.id
          ORDER BY s.seq DESC LIMIT 1)`;

/** The checkpoint $4 instead, if its digest is $5 and no snapshot is newer. */
const fromKnown = (schema: string): string =>
  `known AS (SELECT e.seq FROM head h JOIN ${schema}.run r ON r.id = h.id JOIN ${schema}.entry e ON e.run_id = h.id
          WHERE e.seq = $4 AND e.digest = $5 COLLATE "C" AND r.pruned < $4 AND r.snapshot_seq <= $4),
        snapshot AS (SELECT seq, NULL::bytea AS bytes, NULL::boolean AS kept FROM known
          UNION ALL (SELECT s.seq, s.bytes, s.kept FROM ${schema}.snapshot s JOIN head h ON s.run_id = h.id
            WHERE NOT EXISTS (SELECT FROM known) ORDER BY s.seq DESC LIMIT 1))`;

/** A whole run as rows of several kinds, so that one statement sees all of it at one moment. */
const loadQuery = (
  schema: string,
  named: string,
  from: string,
): string => `WITH head AS (SELECT ${runColumns} FROM ${schema}.run r ${newestEntry(schema)} WHERE ${named}),
        ${from}
      SELECT 'head' AS kind, to_jsonb(h) AS row, NULL::bytea AS bytes, NULL::bytea AS report, 0::bigint AS place FROM head h
      UNION ALL SELECT 'snapshot', jsonb_build_object('seq', seq, 'kept', kept), bytes, NULL, 0 FROM snapshot
      UNION ALL SELECT 'entry', jsonb_build_object('seq', e.seq, 'at', e.at, 'digest', e.digest), e.bytes, NULL, e.seq
        FROM ${schema}.entry e JOIN head h ON e.run_id = h.id
        WHERE e.seq > coalesce((SELECT seq FROM snapshot), 0)
      UNION ALL (SELECT 'event', to_jsonb(i) - 'bytes', i.bytes, NULL, row_number() OVER (ORDER BY i.priority DESC, i.id)
        FROM (SELECT ${eventColumns} FROM ${schema}.inbox WHERE run_id = (SELECT id FROM head)
          ORDER BY priority DESC, id LIMIT $3) i)
      UNION ALL (SELECT 'activity', to_jsonb(a) - 'bytes' - 'report', a.bytes, a.report, row_number() OVER (ORDER BY a.key)
        FROM ${schema}.activity a WHERE a.run_id = (SELECT id FROM head))
      ORDER BY kind, place`;

/** The same of a checkpoint that exists. */
const readAtQuery = (
  schema: string,
  named: string,
): string => `WITH run AS (SELECT r.id FROM ${schema}.run r ${newestEntry(schema)} WHERE ${named} AND $3 BETWEEN greatest(1, r.pruned) AND e.seq),
        snapshot AS (SELECT s.seq, s.bytes, s.kept FROM ${schema}.snapshot s JOIN run r ON s.run_id = r.id AND s.seq <= $3
          ORDER BY s.seq DESC LIMIT 1)
      SELECT 'head' AS kind, NULL::bigint AS seq, NULL::float8 AS at, NULL AS digest, NULL::bytea AS bytes,
        NULL::boolean AS kept FROM run
      UNION ALL SELECT 'snapshot', seq, NULL, NULL, bytes, kept FROM snapshot
      UNION ALL SELECT 'entry', e.seq, e.at, e.digest, e.bytes, NULL FROM ${schema}.entry e JOIN run r ON e.run_id = r.id
        WHERE e.seq > coalesce((SELECT seq FROM snapshot), 0) AND e.seq <= $3
      ORDER BY kind, seq`;

/**
 * What is asked about ($1), each with the number of its run if there is one. Nobody may look for them by computing the name of
 * every run there is, so each is a question of its own.
 */
const askedRuns = (schema: string, columns: string): string =>
  `SELECT n.*, r.id AS run_id, r.pruned FROM ROWS FROM (jsonb_to_recordset($1) AS (${columns}))
        WITH ORDINALITY n(${columns.replaceAll(" text", "")}, place)
      LEFT JOIN LATERAL (SELECT id, pruned FROM ${schema}.run r
        WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run) LIMIT 1) r ON true`;

/** What members of a fleet ask. */
const membersQueries = (schema: string) =>
  ({
    join: `SELECT ${schema}.join_fleet($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS written`,
    beat: `SELECT epoch, worker, sign FROM ${schema}.beat($1, $2, $3, coalesce($4, ${clock}))`,
    leave: `SELECT ${schema}.leave($1, $2, coalesce($3, ${clock}))`,
    adopt: `SELECT to_jsonb(${schema}.adopt($1, $2, $3)) AS adopted`,
    takeTurns: `SELECT ${schema}.take_turns($1, $2, $3) AS turns`,
    dueIn: `SELECT tenant, run FROM ${schema}.due_in($1, $2, $3, $4)`,
    nextDueIn: `SELECT least(
      (SELECT wake_at FROM ${schema}.run WHERE status = 'active' AND wake_at > $2 AND shard = ANY($1)
        ORDER BY wake_at LIMIT 1),
      (SELECT due_at FROM ${schema}.activity WHERE open AND status = 'waiting' AND due_at > $2 AND shard = ANY($1)
        ORDER BY due_at LIMIT 1)) AS at`,
    // A question within the question, since a join may be made by computing the key of every run there is.
    readSeqs: `SELECT coalesce((SELECT (SELECT max(e.seq) FROM ${schema}.entry e WHERE e.run_id = r.id)
        FROM ${schema}.run r WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run)), 0) AS seq
      FROM ROWS FROM (jsonb_to_recordset($1) AS (tenant text, run text)) WITH ORDINALITY n(tenant, run, place)
      ORDER BY n.place`,
    readInboxes: `SELECT n.place, i.* FROM (${askedRuns(schema, "tenant text, run text")}) n CROSS JOIN LATERAL (
        SELECT ${eventColumns} FROM ${schema}.inbox WHERE run_id = n.run_id ORDER BY priority DESC, id LIMIT $2) i
      ORDER BY n.place, i.priority DESC, i.id`,
    // Each of the questions within it finds one row at most, and says so: nobody joins whole tables instead.
    readTaken: `SELECT s.key AS seen, s.seq, e.at, e.digest, e.bytes, b.digest AS previous
      FROM (${askedRuns(schema, "tenant text, run text, key text")}) n
      LEFT JOIN LATERAL (SELECT key, seq FROM ${schema}.seen_key k
        WHERE k.run_id = n.run_id AND k.key = n.key COLLATE "C" LIMIT 1) s ON true
      LEFT JOIN LATERAL (SELECT at, digest, bytes FROM ${schema}.entry
        WHERE run_id = n.run_id AND seq = s.seq AND seq > n.pruned LIMIT 1) e ON true
      LEFT JOIN LATERAL (SELECT digest FROM ${schema}.entry
        WHERE run_id = n.run_id AND seq = s.seq - 1 AND seq > n.pruned LIMIT 1) b ON true
      ORDER BY n.place`,
    // Nothing waits for the disk: a hint that is lost with the power is no loss.
    notify: `WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
      SELECT pg_notify($1, payload) FROM quick, unnest($2::text[]) payload`,
  }) as const;

/**
 * What is due of a tenant ($1): events and activities that somebody left by $2, timers and waiting activities by $3, so many
 * ($4) at most. Each need comes from its index in time, so it takes as long as there are due ones of whatever tenant.
 */
const dueOfQuery = (schema: string): string => `SELECT r.tenant, r.run FROM (
        SELECT run_id, min(need) AS need FROM (
          SELECT run_id, at AS need FROM ${schema}.inbox WHERE open AND at <= $2
          UNION ALL SELECT id, wake_at FROM ${schema}.run
            WHERE status = 'active' AND wake_at IS NOT NULL AND wake_at <= $3 AND tenant = $1
          UNION ALL SELECT run_id, due_at FROM ${schema}.activity WHERE open AND status = 'waiting' AND due_at <= $3
          UNION ALL SELECT run_id, due_at FROM ${schema}.activity a
            WHERE open AND status = 'running' AND due_at <= $2 AND CASE
              WHEN EXISTS (SELECT 1 FROM ${schema}.lease WHERE id = 2)
              THEN NOT EXISTS (SELECT 1 FROM ${schema}.lease l WHERE l.id = 2 AND l.epoch = a.epoch)
              ELSE epoch < (SELECT epoch FROM ${schema}.lease WHERE id = 1) END
        ) needs GROUP BY run_id
      ) oldest JOIN ${schema}.run r ON r.id = oldest.run_id WHERE r.tenant = $1 ORDER BY oldest.need LIMIT $4`;

/** The digest at a checkpoint of each run, and whether the activities that were to begin there are of this epoch, or gone. */
const digestsQuery = (schema: string): string => `SELECT e.digest, NOT EXISTS (
    SELECT 1 FROM jsonb_to_recordset(n.begun) b(tenant text, run text, key text)
    JOIN ${schema}.run o ON ${schema}.name_key(o.tenant, o.run) = ${schema}.name_key(b.tenant, b.run)
    JOIN ${schema}.activity a ON a.run_id = o.id AND a.key = b.key WHERE a.epoch <> $2) AS ours
  FROM ROWS FROM (jsonb_to_recordset($1) AS (tenant text, run text, seq bigint, begun jsonb))
    WITH ORDINALITY n(tenant, run, seq, begun, place)
  LEFT JOIN ${schema}.run r ON ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run)
  LEFT JOIN ${schema}.entry e ON e.run_id = r.id AND e.seq = n.seq ORDER BY n.place`;

/** The statements for a schema, whose name is quoted. */
export function queriesFor(schema: string) {
  const named = `${schema}.name_key(r.tenant, r.run) = ${schema}.name_key($1, $2)`;
  /** The number of a run, for what is only read through it. */
  const runId = `(SELECT r.id FROM ${schema}.run r WHERE ${named})`;
  const newest = newestEntry(schema);
  const hasMembers = `EXISTS (SELECT 1 FROM ${schema}.lease WHERE id = 2)`;
  return {
    readServer: "SELECT current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding",
    readRegister: `SELECT id, owner, epoch, taken_at, until, outages, sign, ${clock} AS now
      FROM ${schema}.lease ORDER BY id, epoch`,
    ownAll: `SELECT ${schema}.own_all($1, $2, $3, $4, $5, $6, $7) AS written`,
    releaseLease: `SELECT ${schema}.release_lease($1, $2, $3, $4)`,
    releaseLeaseNow: `SELECT ${schema}.release_lease($1, $2, $3, ${clock})`,

    ...membersQueries(schema),

    // A run without a number comes as 0: a server with `array_nulls` off would take NULL in an array for a text.
    commit: `SELECT ${schema}.commit($1, $2, array_replace($3::bigint[], 0::bigint, NULL), $4, $5, $6, $7, $8, $9,
      $10, $11, $12, $13) AS answer`,
    awaitRuns: `SELECT 1 FROM ${schema}.run r, jsonb_to_recordset($1) n(tenant text, run text)
      WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run) FOR SHARE OF r`,
    readDigests: digestsQuery(schema),
    enqueue: `SELECT to_jsonb(${schema}.enqueue($1, $2, $3)) AS outcomes`,
    enqueueDistinct: `SELECT to_jsonb(${schema}.enqueue_distinct($1, $2, $3)) AS outcomes`,
    recordActivities: `SELECT to_jsonb(${schema}.record_activities($1, $2, $3, $4)) AS recorded`,
    appendChunks: `SELECT ${schema}.append_pieces($1, $2, $3, $4, $5, $6, $7) AS appended`,
    writeDocument: `SELECT ${schema}.write_document($1, $2, $3, $4, $5) AS written`,
    removeDocument: `SELECT ${schema}.remove_document($1, $2, $3, $4) AS removed`,
    removeDeadLetter: `SELECT ${schema}.remove_dead_letter($1, $2, $3) AS removed`,

    // Where there are members, whoever is none is gone; else whoever came before the owner.
    due: `SELECT tenant, run FROM ${schema}.due($1, $2) WHERE NOT ${hasMembers}
      UNION ALL SELECT tenant, run FROM ${schema}.due_in($3, 'infinity', $1, $2) WHERE ${hasMembers}`,
    dueOf: dueOfQuery(schema),
    nextDue: `SELECT least(
      (SELECT min(wake_at) FROM ${schema}.run WHERE status = 'active' AND wake_at > $1),
      (SELECT min(due_at) FROM ${schema}.activity WHERE open AND status = 'waiting' AND due_at > $1)) AS at`,

    readRun: `SELECT ${runColumns} FROM ${schema}.run r ${newest} WHERE ${named}`,
    load: loadQuery(schema, named, fromSnapshot(schema)),
    loadSince: loadQuery(schema, named, fromKnown(schema)),
    readAt: readAtQuery(schema, named),
    readJournal: `SELECT seq, at, digest, bytes FROM ${schema}.entry
      WHERE run_id = ${runId} AND seq >= greatest($3, 1 + (SELECT r.pruned FROM ${schema}.run r WHERE ${named}))
      ORDER BY seq LIMIT $4`,
    readInbox: `SELECT ${eventColumns} FROM ${schema}.inbox WHERE run_id = ${runId}
      ORDER BY priority DESC, id LIMIT $3`,
    readKeys: `SELECT s.key, s.seq FROM unnest($3::text[]) WITH ORDINALITY w(key, place)
      JOIN ${schema}.seen_key s ON s.run_id = ${runId} AND s.key = w.key COLLATE "C" ORDER BY w.place`,
    readContents: `SELECT c.digest, c.bytes FROM unnest($3::text[]) WITH ORDINALITY w(digest, place)
      JOIN ${schema}.content c ON ${schema}.name_key(c.tenant, c.subject) = ${schema}.name_key($1, $2)
        AND c.digest = w.digest COLLATE "C" ORDER BY w.place`,
    readChunks: `SELECT "offset", attempt, bytes FROM ${schema}.chunk
      WHERE run_id = ${runId} AND key = $3 AND "offset" >= $4 ORDER BY "offset" LIMIT $5`,
    readDocument: `SELECT version, bytes FROM ${schema}.document
      WHERE ${schema}.name_key(tenant, name) = ${schema}.name_key($1, $2)`,
    readDeadLetters: `SELECT number, tenant, run, id, subject, key, priority, at, reason, bytes
      FROM ${schema}.dead_letter WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $3`,

    writeWords: `SELECT ${schema}.write_words($1, $2, $3, $4) AS outcome`,
    findWords: findWords(schema, named),

    removeRuns: `SELECT to_jsonb(${schema}.remove_runs($1, $2, $3, $4)) AS removed`,
    pruneJournal: `SELECT ${schema}.prune_journal($1, $2, $3, $4, $5, $6) AS pruned`,
    sweep: `SELECT ${schema}.sweep($1, $2) AS swept`,
    readForks: `SELECT run, seq, stands FROM ${schema}.forks($1, $2) ORDER BY run COLLATE "C"`,
  } as const;
}

export type Queries = ReturnType<typeof queriesFor>;
