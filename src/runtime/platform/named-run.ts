/** The document of a singleton: it names the run that may be live under a key. */
import { decode } from "../../store/codec.ts";

/** What the names of such documents begin with. */
export const singletonPrefix = "holdfast.singleton ";

/** The run that a document names; throws STORE_CORRUPT if it is damaged. */
export function runIn(bytes: Uint8Array, name: string): string {
  return (decode(bytes, name) as { run: string }).run;
}
