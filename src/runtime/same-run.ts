/** Whether a start means a run that exists: the same id with another machine or input is a mistake, not the same run. */
import { isDeepStrictEqual } from "node:util";
import { type Json, toJson } from "../core/json.ts";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import type { LiveRun } from "./live/live-run.ts";
import type { Past } from "./live/past.ts";

/** Throws RUN_DIFFERS if the run was started otherwise. */
export async function checkSame(
  { head }: LiveRun,
  machine: string,
  input: Json | undefined,
  past: Past,
): Promise<void> {
  const given = input === undefined ? undefined : toJson(input, [], "input");
  if (head.machine === machine && (await hasInput(head, given, past))) return;
  throw new HoldfastError(
    "RUN_DIFFERS",
    `The run ${JSON.stringify(head.run)} exists already, as ${head.machine}@${head.version} with another input; choose another id`,
  );
}

/** Whether a run was started with this input. Where that is not known any more, nothing speaks against it. */
async function hasInput(head: LiveRun["head"], input: Json | undefined, past: Past): Promise<boolean> {
  try {
    return isDeepStrictEqual((await past.entry(head, 1)).event.data, input);
  } catch (error) {
    if (isHoldfastError(error) && error.code === "JOURNAL_PRUNED") return true;
    throw error;
  }
}
