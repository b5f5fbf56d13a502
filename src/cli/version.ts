/** The version of Holdfast that this command is of. */
import { readFileSync } from "node:fs";

/** It stands in the package, beside the folder of the sources or of what is built from them. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;
