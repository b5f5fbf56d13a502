/**
 * The journal: what each step did, as entries chained by digests, and how a state comes back from them.
 *
 * J1. An entry holds what happened (event, outcome, effects) and what changed (patches), never the state itself.
 * J2. `digest` covers the sealed bytes of its entry and the digest before it, so no entry can be changed, left out or
 *     moved without the chain showing it. It runs over sums of bytes, so it can be checked without opening them.
 * J3. A long text that an entry has in several places, as an event's data that went into the context, is written once,
 *     and a large one is kept as content (`content.ts`).
 * J4. What nearly every entry has alike is not in the bytes; reading puts it back.
 */
import { hash } from "node:crypto";
import type { Effect } from "../core/effect.ts";
import type { Event } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { apply, type Patch } from "../core/patch.ts";
import type { Outcome } from "../core/step.ts";
import { HoldfastError } from "../errors.ts";
import { decode, encode } from "./codec.ts";
import { type Contents, pack, unpack } from "./content.ts";
import type { EntryRow, Spending } from "./records.ts";

/** One step, in plain form. */
export interface Entry {
  readonly seq: number;
  readonly at: number;
  /** The hash of the definition that took it. */
  readonly hash: string;
  readonly event: Event;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  readonly effects: readonly Effect[];
  /** Why the step was refused. */
  readonly error?: JsonObject;
  /** Deferred events that will never be taken. */
  readonly dropped?: readonly Event[];
  /** What the activity that settled with this step had used up. */
  readonly spent?: Spending;
}

/** The digest before the first entry. */
export const genesis = "";

/** How the bytes of one run are closed and opened, and where its large texts are. */
export interface Binding {
  close(bytes: Uint8Array): Uint8Array;
  open(bytes: Uint8Array): Uint8Array;
  readonly contents: Contents;
}

/** An entry as it is stored, chained to the one before. */
export function writeEntry(entry: Entry, previous: string, binding: Omit<Binding, "open">): EntryRow {
  const bytes = binding.close(encode(pack(leanOf(entry) as unknown as JsonObject, binding.contents)));
  const { seq, at } = entry;
  return { seq, at, digest: chain(previous, bytes), bytes };
}

/** An entry without what `wholeOf` can put back (J4). */
type LeanEntry = Omit<Entry, "outcome" | "patches" | "effects"> &
  Partial<Pick<Entry, "outcome" | "patches" | "effects">>;

/** JSON leaves out what is undefined, which is cheaper than leaving it out here. */
function leanOf({ seq, at, hash, event, outcome, patches, effects, error, dropped, spent }: Entry): object {
  return {
    seq,
    at,
    hash,
    event,
    outcome: outcome === "taken" ? undefined : outcome,
    patches: patches.length === 0 ? undefined : patches,
    effects: effects.length === 0 ? undefined : effects,
    error,
    dropped,
    spent,
  };
}

/** Field by field: with a rest it would take as long as parsing the entry. */
function wholeOf(lean: LeanEntry): Entry {
  const { seq, at, hash, event, outcome = "taken", patches = [], effects = [] } = lean;
  const whole: { -readonly [Field in keyof Entry]: Entry[Field] } = {
    seq,
    at,
    hash,
    event,
    outcome,
    patches,
    effects,
  };
  if (lean.error !== undefined) whole.error = lean.error;
  if (lean.dropped !== undefined) whole.dropped = lean.dropped;
  if (lean.spent !== undefined) whole.spent = lean.spent;
  return whole;
}

/** The JSON in a row, still packed; throws STORE_CORRUPT if the row does not follow `previous`. */
export function openEntry(
  row: EntryRow,
  previous: string,
  { open }: Pick<Binding, "open">,
  what: string,
): Json {
  const changed = () =>
    new HoldfastError(
      "STORE_CORRUPT",
      `Entry ${row.seq} of ${what} does not match its digest: it was changed after it was written`,
      { details: { seq: row.seq } },
    );
  if (chain(previous, row.bytes) !== row.digest) throw changed();
  const packed = decode(open(row.bytes), `entry ${row.seq} of ${what}`) as unknown as { body: LeanEntry };
  // The chain does not cover where a row says it stands.
  if (packed.body.seq !== row.seq) throw changed();
  return packed as unknown as Json;
}

/** The entry that `openEntry` opened, once its contents are at hand. */
export function readEntry(packed: Json, { contents }: Pick<Binding, "contents">, what: string): Entry {
  return wholeOf(unpack(packed, contents, what) as unknown as LeanEntry);
}

/** What that entry changed, for those who want nothing else of it. */
export function readPatches(
  packed: Json,
  { contents }: Pick<Binding, "contents">,
  what: string,
): readonly Patch[] {
  return (unpack(packed, contents, what) as unknown as LeanEntry).patches ?? [];
}

/** The digest that follows `previous` when these bytes are added. */
export function chain(previous: string, bytes: Uint8Array): string {
  return hash("sha256", previous + hash("sha256", bytes, "base64url"), "base64url");
}

/** The state after an entry. */
export function foldEntry(state: Json, { patches }: Pick<Entry, "patches">): Json {
  return patches.length === 0 ? state : apply(state, patches);
}
