/** What the SQL of this folder is made with: names that are quoted, and where users' ids come from. */

export interface Names {
  /** The store's schema, and the one the views are in. */
  readonly store: string;
  readonly views: string;
  readonly workerRole: string;
  readonly userRole: string;
  /** Whom the store's tables belong to, and so all that is made here. */
  readonly owner: string;
}

/** A text as SQL writes it. */
export function literal(text: string): string {
  // A backslash means itself only where the server is set so, which the E says for every server.
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** Whether a row of `run`, under this alias, is the user's own, as SQL. Asked once for a statement, not once for a row. */
export const isOwn = ({ views }: Pick<Names, "views">, hasTenant: boolean, run: string): string =>
  `${run}.subject = (SELECT ${views}.uid())${hasTenant ? ` AND ${run}.tenant = (SELECT ${views}.tenant())` : ""}`;
