/** Whose directory it is and of which version: forward only, and never somebody else's. */
import { HoldfastError } from "../../errors.ts";
import { corrupt } from "./errors.ts";
import { Fields } from "./fields.ts";
import { type Files, listFolder, readWhole, sizeOf, unfinished } from "./files.ts";

/** The version of the files. One that was published never changes its meaning; another number is taken. */
export const version = 1;
const format = "holdfast file store";
const marker = "holdfast.json";

/** Whether there is a store; throws STORE_FOREIGN for another program's directory and STORE_NEWER for a later version's. Changes nothing. */
export function identify(directory: string, lock: string): boolean {
  const path = `${directory}/${marker}`;
  const bytes = readWhole(path);
  if (bytes === undefined) {
    // What a crash can leave of a store that is being made, and what people put beside their files.
    const ours = (name: string) =>
      name.startsWith(".") ||
      name === `${marker}${unfinished}` ||
      (name === lock && sizeOf(`${directory}/${lock}`) === 0);
    if (listFolder(directory).every(ours)) return false;
    throw foreign(directory);
  }
  const found = readVersion(path, bytes);
  if (found === undefined) throw foreign(directory);
  if (found > version)
    throw new HoldfastError(
      "STORE_NEWER",
      `The store ${directory} has version ${found} and this Holdfast knows ${version}; use the newer Holdfast that wrote it`,
      { details: { directory, version: found, newest: version } },
    );
  return true;
}

/** Makes a directory a store. */
export function mark(directory: string, files: Files): void {
  const text = `${JSON.stringify({ format, version }, null, 2)}\n`;
  files.replaceSynced(`${directory}/${marker}`, Buffer.from(text));
  files.syncFolder(directory);
}

/** The version in a marker; undefined in that of another program. */
function readVersion(path: string, bytes: Buffer): number | undefined {
  try {
    const fields = new Fields(JSON.parse(bytes.toString("utf8")));
    return fields.get("format") === format ? fields.count("version") : undefined;
  } catch (error) {
    throw corrupt(path, error);
  }
}

function foreign(directory: string): HoldfastError {
  return new HoldfastError(
    "STORE_FOREIGN",
    `The directory ${directory} belongs to something else; give the store one of its own`,
    { details: { directory } },
  );
}
