/** Who last changed a part of a context: found from the newest entry backwards, into a fork's source if need be. */
import { isDeepStrictEqual } from "node:util";
import { type Json, type Path, showValue } from "../../core/json.ts";
import type { Patch } from "../../core/patch.ts";
import { HoldfastError } from "../../errors.ts";
import type { Entry } from "../../store/journal.ts";
import type { RunHead } from "../../store/records.ts";
import type { Past } from "../live/past.ts";
import { type Told, tellBack } from "./lineage.ts";

/** The step that last changed what stands at a path such as `$.items[0].price`; undefined if none ever did. */
export async function findLastChange(past: Past, head: RunHead, path: string): Promise<Told | undefined> {
  const wanted: Path = ["context", ...parsePath(path)];
  for await (const { head: own, entry } of tellBack(past, head)) {
    const touching = entry.patches.filter((patch) => touches(patch, wanted));
    if (touching.length === 0) continue;
    // What changes on the way to a place need not change the place itself.
    const isBelow = touching.some((patch) => patch.path.length > wanted.length);
    if (isBelow || !(await isSame(past, own, entry, wanted))) return { run: own.run, entry };
  }
  return undefined;
}

/** Whether what stands at a path is the same before and after a step that changed something on the way to it. */
async function isSame(past: Past, head: RunHead, entry: Entry, path: Path): Promise<boolean> {
  const { state: before } = await (entry.seq === 1 ? past.origin(head) : past.at(head, entry.seq - 1));
  const after = (await past.at(head, entry.seq)).state;
  return isDeepStrictEqual(valueAt(before, path), valueAt(after, path));
}

function valueAt(value: Json, path: Path): Json | undefined {
  let here: Json | undefined = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, Json>)[key];
  }
  return here;
}

/** Whether a patch changes something at a path, on the way to it, or below it. */
function touches({ path }: Patch, wanted: Path): boolean {
  const shorter = Math.min(path.length, wanted.length);
  for (let index = 0; index < shorter; index++)
    if (String(path[index]) !== String(wanted[index])) return false;
  return true;
}

/** `$`, then names after dots, and indices or quoted names in brackets. */
export function parsePath(text: string): Path {
  const steps: (string | number)[] = [];
  const isPath = typeof text === "string" && text.startsWith("$");
  let rest = isPath ? text.slice(1) : "";
  while (rest !== "") {
    const found = /^(?:\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/u.exec(rest);
    if (found === null) break;
    const [whole, name, index, quoted] = found;
    steps.push(name ?? (index === undefined ? (JSON.parse(quoted as string) as string) : Number(index)));
    rest = rest.slice(whole.length);
  }
  if (rest === "" && isPath) return steps;
  throw new HoldfastError(
    "PATH_INVALID",
    `${showValue(text)} is no path: write "$" for the context, then names and indices, as in $.items[0].price`,
  );
}
