/** Where Studio's files are: beside what is built, or where its own build leaves them among the sources. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Undefined where it was not built. */
export function studioFolder(): string | undefined {
  const folders = ["../studio", "../../studio/dist"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return folders.find((folder) => existsSync(`${folder}/index.html`));
}
