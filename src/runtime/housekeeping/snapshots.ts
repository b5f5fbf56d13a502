/** The snapshots of a run, opened: those that can be read, and what is wrong with the others. */
import type { Json } from "../../core/json.ts";
import { decode, encode } from "../../store/codec.ts";
import { contentDigest, contentsOf, pack, unpack } from "../../store/content.ts";
import type { SnapshotRow } from "../../store/records.ts";
import type { Stored } from "../../store/upkeep.ts";
import { fetchContents } from "../live/contents.ts";
import type { Saved } from "../live/past.ts";
import type { Owner } from "../seal.ts";
import { listOf, type Premises, reasonOf } from "./finding.ts";

/** A checkpoint that is known in full. */
export interface Known {
  readonly seq: number;
  readonly digest: string;
  /** Bytes of the entries since the last snapshot before it that is kept for good. */
  readonly since: number;
  readonly state: Json;
}

export interface OpenedSnapshot {
  readonly stored: Stored<"snapshot">;
  /** Undefined where it cannot be read. */
  readonly known: Known | undefined;
  readonly problem: string | undefined;
}

export async function openSnapshots(
  premises: Premises,
  run: string,
  owner: Owner,
): Promise<OpenedSnapshot[]> {
  const opened: OpenedSnapshot[] = [];
  for (const stored of await listOf(premises.store, "snapshot", run)) {
    try {
      const known = await openSnapshot(premises, stored.row as SnapshotRow, owner);
      opened.push({ stored, known, problem: undefined });
    } catch (error) {
      opened.push({ stored, known: undefined, problem: reasonOf(error) });
    }
  }
  return opened;
}

/** A snapshot as it is meant; throws if it cannot be read. */
export async function openSnapshot(
  { store, seal }: Premises,
  row: SnapshotRow,
  owner: Owner,
): Promise<Known> {
  const what = `snapshot ${row.seq}`;
  const { digest, since = 0, state } = decode(seal.open(row.bytes, owner), what) as unknown as Saved;
  if (typeof digest !== "string") throw new Error(`${what} has no digest`);
  const texts = await fetchContents(store, seal, owner, contentsOf(state));
  return { seq: row.seq, digest, since, state: unpack(state, { read: (one) => texts.get(one) }, what) };
}

/** A snapshot of a known checkpoint; undefined if a text in it would have to be kept as content that is not there. */
export async function makeSnapshot(
  { store, seal }: Premises,
  { seq, digest, since, state }: Known,
  owner: Owner,
): Promise<SnapshotRow | undefined> {
  const wanted: string[] = [];
  const keep = (text: string): string => {
    wanted.push(contentDigest(text));
    return wanted.at(-1) as string;
  };
  const saved: Saved = { digest, since, state: pack(state, { keep, read: () => undefined }) };
  const texts = await fetchContents(store, seal, owner, wanted);
  if (wanted.some((one) => !texts.has(one))) return undefined;
  return { seq, bytes: seal.close(encode(saved as unknown as Json), owner) };
}
