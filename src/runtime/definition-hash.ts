/** The structural hash that tells one definition from another. */
import { hash } from "node:crypto";
import { said } from "../core/evolve/said.ts";

/** A hash of everything a definition says, in any order of keys; functions count by where they stand. */
export function definitionHash(definition: object): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const made = hash("sha256", said(definition), "base64url").slice(0, 22);
  hashes.set(definition, made);
  return made;
}

/** A machine's definition is a copy of what was given, and nobody changes it. */
const hashes = new WeakMap<object, string>();
