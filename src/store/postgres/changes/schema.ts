/**
 * What table changes need in the database: an outbox that a trigger writes to inside the user's own transaction, a place
 * for changes that nobody could be given, and whose turn it is to deliver and whether they sleep. It stands beside the store's tables and is set
 * up by itself, since most stores have no use for it.
 */
import { createHash } from "node:crypto";

/** The channel on which those who listen are woken. */
export function channelOf(schema: string): string {
  return `holdfast_change_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
}

/** Raised whenever one of the statements below changes, so that whoever starts next brings them up to date. */
const version = 1;

/** What the outbox says of itself when it is as this Holdfast makes it. */
export const outboxMark = `Holdfast table changes ${version}`;

/**
 * The statements that make or renew all of it; `schema` is quoted. They can be made again at any time.
 *
 * The function runs as its owner: those who write to a watched table need no right to anything here. What it sets makes the
 * text of a value the same whatever the session's own settings are.
 */
export function outboxStatements(schema: string, channel: string): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.table_change (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      rule text COLLATE "C" NOT NULL,
      operation text NOT NULL,
      old json,
      new json
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.failed_change (
      number bigint PRIMARY KEY,
      at timestamptz NOT NULL,
      rule text COLLATE "C" NOT NULL,
      operation text NOT NULL,
      old json,
      new json,
      failed_at timestamptz NOT NULL DEFAULT now(),
      reason json NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.change_turn (
      rules text COLLATE "C" PRIMARY KEY,
      names text[] NOT NULL,
      holder text NOT NULL,
      until timestamptz NOT NULL,
      asleep_until timestamptz
    )`,
    `CREATE OR REPLACE FUNCTION ${schema}.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp
      SET timezone = 'UTC'
      SET datestyle = 'ISO, YMD'
      SET intervalstyle = 'iso_8601'
      SET bytea_output = 'hex'
      SET extra_float_digits = 1
    AS $$
    BEGIN
      INSERT INTO ${schema}.table_change (rule, operation, old, new)
        VALUES (TG_ARGV[0], lower(TG_OP), row_to_json(OLD), row_to_json(NEW));
      -- Transactions that notify commit one after the other, so only those do that find whoever delivers asleep. The
      -- server makes one of all that a transaction sends.
      IF TG_ARGV[2] = 'notify' THEN
        PERFORM pg_notify('${channel}', '') FROM ${schema}.change_turn
          WHERE asleep_until > now() AND TG_ARGV[0] = ANY (names);
      END IF;
      RETURN NULL;
    END $$`,
    // Whoever may not write to the outbox must not do so by a trigger of theirs. Triggers that are there need no right.
    `REVOKE ALL ON FUNCTION ${schema}.note_change() FROM PUBLIC`,
    `COMMENT ON TABLE ${schema}.table_change IS '${outboxMark}'`,
  ];
}

/** The statements that take all of it away; no trigger may be left. */
export function removalStatements(schema: string): readonly string[] {
  return [
    `DROP FUNCTION IF EXISTS ${schema}.note_change()`,
    `DROP TABLE IF EXISTS ${schema}.table_change, ${schema}.failed_change, ${schema}.change_turn`,
  ];
}
