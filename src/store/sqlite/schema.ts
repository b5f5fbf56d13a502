/**
 * The tables, as migrations: the one at index n leads from version n to n + 1. A migration that was published never
 * changes; another is added.
 *
 * What a run is stands in `run`; where it stands (seq, digest, time) only in its newest `entry`, so that a step that
 * changes nothing else writes one row. A run's name is written once: other tables use its number, which is never given
 * to another run. Rows with bytes are ordinary ones in order of arrival: kept in the order of their keys, each commit
 * would write a page for every run in it. Times and priorities are REAL, since any finite number must come back exactly;
 * counts are INTEGER.
 *
 * `open` marks what waits for an active run; what belongs to parked and ended runs is never looked at to find due work.
 */

/** Tells a store of Holdfast from other programs' databases: "HOLD". */
export const applicationId = 0x48_4f_4c_44;

export const migrations: readonly string[] = [
  `
  CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    subject TEXT NOT NULL,
    machine TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at REAL NOT NULL,
    wake_at REAL,
    snapshot_seq INTEGER NOT NULL,
    about TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX run_name ON run (tenant, run);
  CREATE INDEX run_wake ON run (wake_at) WHERE status = 'active' AND wake_at IS NOT NULL;
  CREATE INDEX run_created ON run (tenant, created_at, run);
  CREATE INDEX run_subject ON run (tenant, subject, created_at, run);
  CREATE INDEX run_machine ON run (tenant, machine, created_at, run);
  CREATE INDEX run_status ON run (tenant, status, created_at, run);

  CREATE TABLE attribute (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at REAL NOT NULL,
    run TEXT NOT NULL,
    PRIMARY KEY (tenant, name, value, created_at, run)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE entry (
    run_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    digest TEXT NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entry_seq ON entry (run_id, seq);

  CREATE TABLE snapshot (
    run_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX snapshot_seq ON snapshot (run_id, seq);

  CREATE TABLE content (
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX content_digest ON content (tenant, subject, digest);

  CREATE TABLE inbox (
    run_id INTEGER NOT NULL,
    id TEXT NOT NULL,
    key TEXT,
    priority REAL NOT NULL,
    at REAL NOT NULL,
    open INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX inbox_id ON inbox (run_id, id);
  CREATE INDEX inbox_at ON inbox (at, run_id) WHERE open = 1;

  CREATE TABLE seen_key (
    run_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (run_id, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE activity (
    run_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    activity TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    due_at REAL NOT NULL,
    epoch INTEGER NOT NULL,
    open INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    report BLOB
  ) STRICT;
  CREATE UNIQUE INDEX activity_key ON activity (run_id, key);
  CREATE INDEX activity_waiting ON activity (due_at, run_id) WHERE open = 1 AND status = 'waiting';
  CREATE INDEX activity_running ON activity (epoch, due_at, run_id) WHERE open = 1 AND status = 'running';

  CREATE TABLE chunk (
    run_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    offset INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX chunk_offset ON chunk (run_id, key, offset);

  CREATE TABLE document (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX document_name ON document (tenant, name);

  CREATE TABLE lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    owner TEXT,
    epoch INTEGER NOT NULL,
    taken_at REAL NOT NULL,
    until REAL NOT NULL
  ) STRICT;
  INSERT INTO lease VALUES (1, NULL, 0, 0, 0);
  `,
  // Which step took the event of an older key nobody wrote down: at the latest it was the newest one.
  `
  ALTER TABLE seen_key ADD COLUMN seq INTEGER;
  UPDATE seen_key SET seq = (SELECT max(seq) FROM entry e WHERE e.run_id = seen_key.run_id)
    WHERE NOT EXISTS (SELECT 1 FROM inbox i WHERE i.run_id = seen_key.run_id AND i.key = seen_key.key);

  ALTER TABLE inbox ADD COLUMN subject TEXT NOT NULL DEFAULT '';
  ALTER TABLE inbox ADD COLUMN expendable INTEGER NOT NULL DEFAULT 0;
  UPDATE inbox SET subject = (SELECT subject FROM run r WHERE r.id = inbox.run_id);

  CREATE TABLE dead_letter (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT,
    priority REAL NOT NULL,
    at REAL NOT NULL,
    reason TEXT NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX dead_letter_number ON dead_letter (tenant, number);

  INSERT INTO dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
    SELECT r.tenant, r.run, i.id, i.subject, i.key, i.priority, i.at, 'ended', i.bytes
    FROM inbox i JOIN run r ON r.id = i.run_id WHERE r.status NOT IN ('active', 'parked')
    ORDER BY r.id, i.priority DESC, i.id;
  DELETE FROM seen_key WHERE seq IS NULL
    AND run_id IN (SELECT id FROM run WHERE status NOT IN ('active', 'parked'));
  DELETE FROM inbox WHERE run_id IN (SELECT id FROM run WHERE status NOT IN ('active', 'parked'));
  `,
  // Entries leave out what nearly all have alike; an older Holdfast must not take them for whole.
  "SELECT 1",
  // Snapshots that stay. The index is what makes removing the others cost the same however many stay.
  `
  ALTER TABLE snapshot ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX snapshot_passing ON snapshot (run_id, seq) WHERE kept = 0;
  `,
  // What is removed is only noted; its rows go later. A run's number is never given again, so nobody finds them meanwhile.
  `
  ALTER TABLE run ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN fork_run TEXT;
  ALTER TABLE run ADD COLUMN fork_seq INTEGER;
  UPDATE run SET fork_run = about ->> '$.fork.run', fork_seq = about ->> '$.fork.seq'
    WHERE json_valid(about) AND about ->> '$.fork.run' IS NOT NULL;
  CREATE INDEX run_fork ON run (tenant, fork_run, run) WHERE fork_run IS NOT NULL;

  CREATE TABLE removal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    until INTEGER
  ) STRICT;
  CREATE INDEX removal_run ON removal (run_id) WHERE until IS NULL;
  `,
  // Outages are noted with the lease that ends them. Those of before stood in a document, which nobody reads any more.
  `
  ALTER TABLE lease ADD COLUMN outages TEXT NOT NULL DEFAULT '[]';
  DELETE FROM document WHERE tenant = 'holdfast' AND name = 'outages';
  `,
  // The highest version of a document that was removed: whatever is written anew begins above it.
  `
  CREATE TABLE document_removed (id INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;
  INSERT INTO document_removed VALUES (1, 0);
  `,
  // Indexes of words, by run. They can be made again, and stand in none of the tables that runs are read from.
  `
  CREATE TABLE index_mark (run_id INTEGER PRIMARY KEY, mark INTEGER NOT NULL) STRICT;
  CREATE TABLE indexed_text (
    number INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL,
    id TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX indexed_text_id ON indexed_text (run_id, id);
  CREATE VIRTUAL TABLE indexed_word USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0);
  INSERT INTO indexed_word (indexed_word, rank) VALUES ('secure-delete', 1);
  `,
];
