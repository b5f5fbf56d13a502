/**
 * The state of a run, for its file: what a person looks for first, and the store itself never reads. It is there where
 * the bytes can be read by anybody, which those of a sealed run cannot.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { apply, type Patch } from "../../core/patch.ts";
import { isHoldfastError } from "../../errors.ts";
import { decode } from "../codec.ts";
import { unpack } from "../content.ts";
import type { StoredRun } from "../memory/tables.ts";
import { type Folder, places } from "./folder.ts";
import { contentOf } from "./rows.ts";

/** The state at the run's newest checkpoint, if its bytes can be read. */
export function showState(
  run: Pick<StoredRun, "head" | "snapshots" | "entries">,
  folder: Folder,
): Json | undefined {
  const { tenant, subject, seq } = run.head;
  const contents = {
    read: (digest: string): string | undefined => {
      const content = folder.read(places.content(tenant, subject, digest), contentOf);
      return content && (decode(content.bytes, "a content") as string);
    },
  };
  try {
    const snapshot = run.snapshots.at(-1);
    const saved = snapshot && (decode(snapshot.bytes, "a snapshot") as JsonObject);
    const state = saved === undefined ? null : unpack(saved.state as Json, contents, "a snapshot");
    const entries = run.entries.read((snapshot?.seq ?? 0) + 1, seq, Number.POSITIVE_INFINITY);
    const patches = entries.flatMap(({ bytes }) => {
      const entry = unpack(decode(bytes, "an entry"), contents, "an entry") as JsonObject;
      return (entry.patches ?? []) as unknown as Patch[];
    });
    return apply(state, patches);
  } catch (error) {
    if (isHoldfastError(error)) return undefined;
    throw error;
  }
}
