/**
 * File names for names. Runs, tenants, subjects, digests and documents have any well-formed text for a name; a file
 * system may not tell capitals from small letters, may take a name for a device or a way out of the folder, and ends
 * names at some length.
 *
 * N1. Different names have different file names, whatever the file system takes for the same.
 * N2. A file name has small letters, digits, `-`, `_`, `%` and `~` only: no dot, so what follows one is never part of a name.
 */
import { hash } from "node:crypto";

/** Most file systems end at 255 bytes; this leaves room for every ending. */
const lengthMax = 120;
/** How much of a name that is too long stays readable. */
const beginningLength = 60;

/** Names that Windows gives to devices, with any ending. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** A name as a file's: itself where it can be, else with `%2f` for each byte that cannot stand, and cut with a digest if that is long. */
export function fileName(name: string): string {
  const safe = name.replace(/[^a-z0-9_-]/gu, escaped);
  const whole = devices.test(safe) ? `${escaped(safe.slice(0, 1))}${safe.slice(1)}` : safe;
  if (whole.length > 0 && whole.length <= lengthMax) return whole;
  // A tilde is in no name that stands for itself. An escaped that the cut leaves half of means nothing, and needs not to.
  return `${whole.slice(0, beginningLength)}~${hash("sha256", name, "hex")}`;
}

/** The name of which this is the file name; undefined where that cannot be told from it. */
export function nameIn(file: string): string | undefined {
  try {
    return file.includes("~") ? undefined : decodeURIComponent(file);
  } catch {
    return undefined;
  }
}

function escaped(characters: string): string {
  return Buffer.from(characters).toString("hex").replace(/../g, "%$&");
}
