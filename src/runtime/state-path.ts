/** States as people name them: by their path, or by their id. */
import { findNode } from "../core/chart.ts";
import { showValue } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import { HoldfastError } from "../errors.ts";

/** The path of the state that this names; throws STATE_UNKNOWN. The whole machine is none: it is always active. */
export function statePath({ id, chart }: Pick<Machine, "id" | "chart">, name: unknown): string {
  const path = typeof name === "string" ? (findNode(chart, name)?.path ?? "") : "";
  if (path !== "") return path;
  throw new HoldfastError(
    "STATE_UNKNOWN",
    `The machine ${id} has no state ${showValue(name)}; write its path, as "a.b", or its id, as "#a"`,
  );
}
