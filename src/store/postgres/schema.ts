/**
 * The tables, as migrations: the one at index n leads from version n to n + 1. A migration that was published never
 * changes; another is added. `functions.ts` has what works on them.
 *
 * They are the tables of the SQLite store under the same names, with these differences:
 * - A run's row is the lock of everything that is the run's own: whoever writes any of it holds that row first.
 * - B-tree rows hold 2,704 bytes, and a tenant, a subject and a run's name may have 1,536 each. So what is only ever asked
 *   for as a whole is indexed by its sum (`name_key`), and what merely narrows a search by its hash (`tenant_key`).
 * - `attribute.place` is the sum of tenant, name and value for the same reason: the three together say what is looked for.
 * - Rows of a run have its shard, at the end of their keys, and the journal may be in partitions (`shards.ts`).
 * - The lease's key has its epoch in it, and members of a fleet have rows of their own beside it (`fence.ts`).
 *
 * Text is put in order by code point whatever the database's own order is.
 */
import { appendPieces } from "./chunk-functions.ts";
import { commitOfLong, keptSnapshots } from "./commit-functions.ts";
import { documentFunctions } from "./document-functions.ts";
import { fleet, ownActivities } from "./fleet-functions.ts";
import { forkFunctions } from "./fork-functions.ts";
import { functions } from "./functions.ts";
import { enqueueDistinct } from "./inbox-functions.ts";
import { searchFunctions } from "./search-functions.ts";
import { shards } from "./shards.ts";
import { turnFunctions } from "./turn-functions.ts";
import { upkeepFunctions } from "./upkeep-functions.ts";

/** What a table of this store is recognised by. */
export const program = "holdfast";

/** Takes the schema's name, quoted. */
export type Migration = (schema: string) => string;

/** `partitions`: into how many the journal is divided where it comes to that. */
export const migrationsInto = (partitions: number): readonly Migration[] => [
  (schema) => `${tables(schema)}${functions(schema)}`,
  // Entries leave out what nearly all have alike; an older Holdfast must not take them for whole.
  () => "SELECT 1",
  (schema) => appendPieces(schema),
  keptSnapshots,
  upkeepFunctions,
  leasedOutages,
  (schema) => shards(schema, partitions),
  fleet,
  documentFunctions,
  turnFunctions,
  forkFunctions,
  searchFunctions,
  commitOfLong,
  enqueueDistinct,
  ownActivities,
];

export const migrations: readonly Migration[] = migrationsInto(1);

/** Outages are noted with the lease that ends them. Those of before stood in a document, which nobody reads any more. */
function leasedOutages(schema: string): string {
  return `
  ALTER TABLE ${schema}.lease ADD COLUMN outages text NOT NULL DEFAULT '[]';
  DELETE FROM ${schema}.document WHERE tenant = 'holdfast' AND name = 'outages';

  CREATE FUNCTION ${schema}.write_lease(
    p_full boolean, p_old jsonb, p_owner text, p_epoch bigint, p_taken_at float8, p_until float8, p_outages text
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT ${schema}.write_lease(p_full, p_old, p_owner, p_epoch, p_taken_at, p_until) THEN RETURN false; END IF;
    UPDATE ${schema}.lease SET outages = p_outages WHERE id = 1;
    RETURN true;
  END $$;
`;
}

const tables = (schema: string): string =>
  [versionAndKeys, runs, journal, inboxes, activities, documentsAndLease].map((of) => of(schema)).join("");

const versionAndKeys = (schema: string): string => `
  CREATE TABLE ${schema}.store_version (program text NOT NULL, version integer NOT NULL);
  INSERT INTO ${schema}.store_version VALUES ('${program}', 0);

  CREATE FUNCTION ${schema}.name_key(p_tenant text, p_name text) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
  BEGIN
    RETURN sha256(convert_to(length(p_tenant)::text || ':' || p_tenant || p_name, 'UTF8'));
  END $$;

  CREATE FUNCTION ${schema}.tenant_key(p_tenant text, p_name text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT hashtextextended(p_name, hashtextextended(p_tenant, 0))
  $$;
`;

const runs = (schema: string): string => `
  CREATE TABLE ${schema}.run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    machine text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at double precision NOT NULL,
    wake_at double precision,
    snapshot_seq bigint NOT NULL,
    about text NOT NULL
  ) WITH (fillfactor = 80);
  CREATE UNIQUE INDEX run_name ON ${schema}.run (${schema}.name_key(tenant, run));
  CREATE INDEX run_wake ON ${schema}.run (wake_at) WHERE status = 'active' AND wake_at IS NOT NULL;
  CREATE INDEX run_created ON ${schema}.run (hashtextextended(tenant, 0), created_at, run);
  CREATE INDEX run_subject ON ${schema}.run (${schema}.tenant_key(tenant, subject), created_at, run);
  CREATE INDEX run_machine ON ${schema}.run (${schema}.tenant_key(tenant, machine), created_at, run);
  CREATE INDEX run_status ON ${schema}.run (${schema}.tenant_key(tenant, status), created_at, run);

  CREATE TABLE ${schema}.attribute (
    run_id bigint NOT NULL,
    place bytea NOT NULL,
    created_at double precision NOT NULL,
    run text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, place)
  );
  CREATE INDEX attribute_place ON ${schema}.attribute (place, created_at, run);
`;

const journal = (schema: string): string => `
  CREATE TABLE ${schema}.entry (
    run_id bigint NOT NULL,
    seq bigint NOT NULL,
    at double precision NOT NULL,
    digest text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, seq)
  );
  CREATE TABLE ${schema}.snapshot (
    run_id bigint NOT NULL,
    seq bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, seq)
  );
  CREATE TABLE ${schema}.content (
    tenant text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL
  );
  CREATE UNIQUE INDEX content_digest ON ${schema}.content (${schema}.name_key(tenant, subject), digest);
`;

const inboxes = (schema: string): string => `
  CREATE TABLE ${schema}.inbox (
    run_id bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    expendable boolean NOT NULL,
    priority double precision NOT NULL,
    at double precision NOT NULL,
    open boolean NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, id)
  );
  CREATE INDEX inbox_at ON ${schema}.inbox (at, run_id) WHERE open;
  CREATE TABLE ${schema}.seen_key (
    run_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq bigint,
    PRIMARY KEY (run_id, key)
  );
  CREATE TABLE ${schema}.dead_letter (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    priority double precision NOT NULL,
    at double precision NOT NULL,
    reason text NOT NULL,
    bytes bytea NOT NULL
  );
  CREATE INDEX dead_letter_number ON ${schema}.dead_letter (tenant, number);
`;

const activities = (schema: string): string => `
  CREATE TABLE ${schema}.activity (
    run_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    activity text NOT NULL,
    attempt bigint NOT NULL,
    status text NOT NULL,
    due_at double precision NOT NULL,
    epoch bigint NOT NULL,
    open boolean NOT NULL,
    bytes bytea NOT NULL,
    report bytea,
    PRIMARY KEY (run_id, key)
  );
  CREATE INDEX activity_waiting ON ${schema}.activity (due_at, run_id) WHERE open AND status = 'waiting';
  CREATE INDEX activity_running ON ${schema}.activity (epoch, due_at, run_id) WHERE open AND status = 'running';

  CREATE TABLE ${schema}.chunk (
    run_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    "offset" bigint NOT NULL,
    attempt bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, key, "offset")
  );
`;

const documentsAndLease = (schema: string): string => `
  CREATE TABLE ${schema}.document (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    bytes bytea NOT NULL
  );
  CREATE UNIQUE INDEX document_name ON ${schema}.document (${schema}.name_key(tenant, name));

  CREATE TABLE ${schema}.lease (
    id integer NOT NULL CHECK (id = 1),
    epoch bigint NOT NULL,
    owner text,
    taken_at double precision NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (id, epoch)
  );
  INSERT INTO ${schema}.lease VALUES (1, 0, NULL, 0, 0);
`;
