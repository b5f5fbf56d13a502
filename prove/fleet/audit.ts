/**
 * What the database itself has to say of who writes: every write of what is a member's to write is held against the table of
 * leases, in the same transaction, by the name of its connection, which is the number of its process.
 */
import type { Node } from "../../test/postgres/cluster.ts";

const statements = `
  CREATE TABLE IF NOT EXISTS public.trespass (at timestamptz DEFAULT clock_timestamp(), what text, who text);
  CREATE OR REPLACE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM holdfast.lease WHERE id = 2
        AND split_part(owner, ' ', 2) = current_setting('application_name')) THEN
      INSERT INTO public.trespass (what, who) VALUES (TG_TABLE_NAME, current_setting('application_name'));
    END IF;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER watched AFTER INSERT ON holdfast.entry FOR EACH ROW EXECUTE FUNCTION public.watch();
  CREATE OR REPLACE TRIGGER watched AFTER UPDATE ON holdfast.activity FOR EACH ROW EXECUTE FUNCTION public.watch();
  CREATE OR REPLACE TRIGGER watched AFTER INSERT ON holdfast.chunk FOR EACH ROW EXECUTE FUNCTION public.watch();`;

export async function watchWrites(node: Node): Promise<void> {
  await node.query(statements);
}

/** Writes by processes that were no members. Whoever judges afterwards is not watched. */
export async function trespasses(node: Node): Promise<string[]> {
  const rows = await node.query(
    "SELECT what, who, count(*) AS count FROM public.trespass GROUP BY what, who",
  );
  await node.query("DROP FUNCTION public.watch CASCADE");
  return rows.map(
    ({ what, who, count }) => `F6: process ${who} was put out and wrote ${what} ${count} times`,
  );
}
