/**
 * A warm copy: what rebuilds the state of a run at a checkpoint, as bytes for a cache. Rows stay as the store has them,
 * compressed and sealed. A sum over all of it tells bytes that were damaged, cut short or written by something else; with
 * a secret it also tells those of a stranger.
 */
import { createHash, createHmac } from "node:crypto";
import type { EntryRow, RunName, SnapshotRow } from "../records.ts";
import type { KnownCheckpoint, LoadedRun } from "../store.ts";

/** What rebuilds the state at a checkpoint. */
export interface WarmCopy extends KnownCheckpoint, Pick<LoadedRun, "snapshot" | "entries"> {}

/** Copies of another form have other keys, so that old and new processes leave each other's alone. */
const form = "1";

/** Where things are in Redis. Names are summed: they may be long, and are nobody's business there. */
export const keys = {
  copy: (prefix: string, { tenant, run }: RunName): string => `${prefix}:${form}:run:${sumOf(tenant, run)}`,
  texts: (prefix: string, tenant: string, subject: string): string =>
    `${prefix}:${form}:texts:${sumOf(tenant, subject)}`,
  /** A pattern for all of them. */
  all: (prefix: string): string => `${prefix.replace(/[\\?*[\]]/g, "\\$&")}:${form}:*`,
};

function sumOf(one: string, other: string): string {
  return createHash("sha256")
    .update(JSON.stringify([one, other]))
    .digest("base64url");
}

/** How many bytes a copy has, about. */
export function sizeOf({ snapshot, entries }: Pick<LoadedRun, "snapshot" | "entries">): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, snapshot?.bytes.length ?? 0);
}

/** A sum over bytes, and over where they belong. */
export function seal(secret: string, place: readonly (string | number)[], bytes: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(JSON.stringify(place)).update(bytes).digest();
}

type Shown = readonly [
  snapshot: readonly [seq: number, kept: boolean, size: number] | null,
  entries: readonly (readonly [seq: number, at: number, digest: string, size: number])[],
];

/** The rows of a copy as bytes: what they are as JSON, its length before it, and their own bytes after it. */
export function encodeCopy({ snapshot, entries }: WarmCopy): Buffer {
  const shown: Shown = [
    snapshot === undefined ? null : [snapshot.seq, snapshot.kept === true, snapshot.bytes.length],
    entries.map(({ seq, at, digest, bytes }) => [seq, at, digest, bytes.length]),
  ];
  const text = Buffer.from(JSON.stringify(shown));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(text.length);
  const pieces = snapshot === undefined ? entries : [snapshot, ...entries];
  return Buffer.concat([length, text, ...pieces.map(({ bytes }) => bytes)]);
}

/** The rows in bytes that `encodeCopy` made and whose sum is right. */
export function decodeCopy(bytes: Buffer): Pick<LoadedRun, "snapshot" | "entries"> {
  const begin = 4 + bytes.readUInt32BE();
  const [shown, rows] = JSON.parse(bytes.toString("utf8", 4, begin)) as Shown;
  let offset = begin;
  const take = (size: number): Uint8Array => {
    const piece = new Uint8Array(bytes.buffer, bytes.byteOffset + offset, size);
    offset += size;
    return piece;
  };
  const snapshot: SnapshotRow | undefined =
    shown === null ? undefined : { seq: shown[0], bytes: take(shown[2]), ...(shown[1] && { kept: true }) };
  const entries: EntryRow[] = rows.map(([seq, at, digest, size]) => ({ seq, at, digest, bytes: take(size) }));
  return { snapshot, entries };
}
