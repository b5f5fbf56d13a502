/** Appending pieces of a stream. See `functions.ts` for how it is called. */
import { goodEpoch } from "./fence.ts";
import { type Place, unsharded } from "./place.ts";

/** Pieces of a process that was replaced are refused. The function of before stays for processes that were begun before. */
export const appendPieces = (schema: string, { create, columns, of }: Place = unsharded): string => `
  ${create} ${schema}.append_pieces(
    p_full boolean, p_epoch bigint, p_tenant text, p_run text, p_key text, p_chunks jsonb, p_bytes bytea
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_id bigint;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    SELECT id INTO v_id FROM ${schema}.run
      WHERE ${schema}.name_key(tenant, run) = ${schema}.name_key(p_tenant, p_run) FOR NO KEY UPDATE;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    IF NOT FOUND OR v_id IS NULL THEN RETURN false; END IF;
    INSERT INTO ${schema}.chunk (${columns}, key, "offset", attempt, bytes)
      SELECT ${of("v_id")}, p_key, c.place, c.attempt, substring(p_bytes FROM c."offset" FOR c.size)
      FROM jsonb_to_recordset(p_chunks) c(place bigint, attempt bigint, "offset" int, size int) ORDER BY c.place
      ON CONFLICT DO NOTHING;
    RETURN true;
  END $$;
`;
