/**
 * Events from SQL: `send_event` puts one into the inbox of a run of the user's own, in the form the runtime reads
 * (`../../codec.ts`). A runtime that seals its bytes could not open it, so it is there only for stores that were told so.
 */
import { limits } from "../../../limits.ts";
import { isOwn, type Names } from "./names.ts";

/** CRC-32 of bytes, as four bytes. Servers before 18 have no function for it. */
export const checksum = ({ views }: Names, hasCrc32: boolean): string => `
  CREATE OR REPLACE FUNCTION ${views}.checksum(p_bytes bytea) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  ${hasCrc32 ? "BEGIN RETURN substring(int8send(crc32(p_bytes)) FROM 5); END" : crc32} $$;
`;

const crc32 = `DECLARE
    v_sum bigint := 4294967295;
    v_table CONSTANT bigint[] := '{${table().join(",")}}';
  BEGIN
    FOR v_place IN 0 .. octet_length(p_bytes) - 1 LOOP
      v_sum := (v_sum >> 8) # v_table[((v_sum # get_byte(p_bytes, v_place)) & 255) + 1];
    END LOOP;
    RETURN substring(int8send(v_sum # 4294967295) FROM 5);
  END`;

/** What each value of a byte changes in the sum. */
function table(): number[] {
  return Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
    return sum >>> 0;
  });
}

/**
 * Tells `accepted`, `duplicate`, `ended`, or `missing`, which is also said of a run that is somebody else's. What the event
 * may be is for the machine to say, when its step is taken. The envelope is ours: no user can write an event of the
 * platform's.
 */
export const sendEvent = (names: Names, hasTenant: boolean): string => {
  const { store, views } = names;
  return `
  CREATE OR REPLACE FUNCTION ${views}.send_event(run text, type text, data jsonb DEFAULT NULL, key text DEFAULT NULL,
    tenant text DEFAULT ${hasTenant ? `${views}.tenant()` : "'default'"}
  ) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    v_now float8 := extract(epoch FROM clock_timestamp())::float8 * 1000;
    v_time text := lpad(to_hex(floor(v_now)::bigint), 12, '0');
    v_id text := left(v_time, 8) || '-' || right(v_time, 4) || '-7'
      || lpad(to_hex(floor((v_now - floor(v_now)) * 1000)::int), 3, '0') || substr(gen_random_uuid()::text, 19);
    v_body bytea;
    v_subject text;
  BEGIN
    SELECT r.subject INTO v_subject FROM ${store}.run r
      WHERE ${store}.name_key(r.tenant, r.run) = ${store}.name_key(send_event.tenant, send_event.run)
        AND ${isOwn(names, hasTenant, "r")} FOR NO KEY UPDATE OF r;
    IF NOT FOUND THEN RETURN 'missing'; END IF;
    IF type IS NULL OR type = '' THEN
      RAISE EXCEPTION 'An event needs a type' USING ERRCODE = '22023';
    END IF;
    IF key = '' OR length(key) > ${limits.nameLengthMax} THEN
      RAISE EXCEPTION 'A key has 1 to ${limits.nameLengthMax} characters' USING ERRCODE = '22023';
    END IF;
    IF jsonb_path_exists(data, 'strict $.**{${limits.jsonDepthMax}}') OR EXISTS (
        SELECT 1 FROM jsonb_path_query(data, 'strict $.** ? (@.type() == "number")') n
        WHERE abs((n #>> '{}')::numeric) > ${Number.MAX_VALUE}::numeric) THEN
      RAISE EXCEPTION 'The data of an event has at most ${limits.jsonDepthMax} levels, and numbers up to ${Number.MAX_VALUE}'
        USING ERRCODE = '22023';
    END IF;
    v_body := convert_to((jsonb_build_object('type', type)
      || CASE WHEN data IS NULL THEN '{}' ELSE jsonb_build_object('data', data) END)::text, 'UTF8');
    IF octet_length(v_body) > ${limits.sentBytesMax} THEN
      RAISE EXCEPTION 'An event has at most ${limits.sentBytesMax} bytes' USING ERRCODE = '22023';
    END IF;
    v_body := '\\x00'::bytea || ${views}.checksum(v_body) || v_body;
    RETURN (${store}.enqueue(true, jsonb_build_array(jsonb_build_object(
      'tenant', tenant, 'run', run, 'id', v_id, 'subject', v_subject, 'key', key, 'expendable', false,
      'priority', 0, 'at', v_now, 'offset', 1, 'size', octet_length(v_body))), v_body))[1];
  END $$;
`;
};

/** For a store that was told so before and is no more. */
export const noSendEvent = ({ views }: Names): string => `
  DROP FUNCTION IF EXISTS ${views}.send_event(text, text, jsonb, text, text);
  DROP FUNCTION IF EXISTS ${views}.checksum(bytea);
`;
