/** The names of child runs, which are made of others. */
import { hash } from "node:crypto";
import { limits } from "../limits.ts";

/**
 * The name of the run that another one invoked under this key: its own, and the key. One that would be too long for a name has a
 * digest in place of the end of the other's, so that it stays its own, and the same for everybody who makes it.
 */
export function childName(run: string, key: string): string {
  const name = `${run}/${key}`;
  if (name.length <= limits.nameLengthMax) return name;
  const rest = `~${hash("sha256", run, "base64url").slice(0, 22)}/${key}`;
  const begin = run.slice(0, limits.nameLengthMax - rest.length);
  // Not half a character.
  return `${begin.isWellFormed() ? begin : begin.slice(0, -1)}${rest}`;
}
