/** A list of runs by other means. */
import { filterOf } from "../data/runs.ts";
import type { ListSearch } from "../search.ts";

/** The request for such a list. */
export function listPath(search: ListSearch): string {
  const { attributes = {}, ...rest } = filterOf(search);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
  for (const [name, value] of Object.entries(attributes))
    query.set(`attributes[${name}]`, JSON.stringify(value));
  return query.size === 0 ? "/v1/runs" : `/v1/runs?${query}`;
}

/** The command for such a list; none for what no command can say. */
export function listCommands(search: ListSearch): readonly { readonly parts: readonly string[] }[] {
  const { status, machine, subject, waiting, stuck, since } = search;
  if (since !== undefined) return [];
  const { attributes = {} } = filterOf(search);
  const where = Object.entries(attributes).flatMap(([name, value]) => [
    ...["--where", `${name}=${JSON.stringify(value)}`],
  ]);
  const option = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);
  return [
    {
      parts: [
        ...["runs", "list", ...option("--status", status), ...option("--machine", machine)],
        ...[...option("--subject", subject), ...where],
        ...(waiting === undefined ? [] : ["--waiting"]),
        ...(stuck === undefined ? [] : ["--stuck"]),
      ],
    },
  ];
}
