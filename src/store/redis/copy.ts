/**
 * A warm copy: what rebuilds the state of a run at a checkpoint, as bytes for a cache. It is in pieces, the first with the
 * snapshot if there is one, and each of the others with entries that were added later. Rows stay as the store has them,
 * compressed and sealed. A sum before each piece tells bytes that were damaged, cut short or written by something else;
 * with a secret it also tells those of a stranger.
 */
import { createHash, createHmac } from "node:crypto";
import type { EntryRow, RunName, SnapshotRow } from "../records.ts";
import type { KnownCheckpoint, LoadedRun } from "../store.ts";

/** What leads from one checkpoint to another: from the beginning, if there is nothing before it. */
export interface Piece extends KnownCheckpoint, Pick<LoadedRun, "snapshot" | "entries"> {
  /** The digest of the checkpoint that it goes on from. */
  readonly after?: string;
}

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

const sumBytes = 32;

/** Bytes with a sum before them, over them and over where they belong. */
export function sign(secret: string, place: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([createHmac("sha256", secret).update(`${place}\n`).update(bytes).digest(), bytes]);
}

/** The bytes that were signed for this place; undefined if these were not. */
export function check(secret: string, place: string, signed: unknown): Buffer | undefined {
  if (!Buffer.isBuffer(signed) || signed.length < sumBytes) return undefined;
  const bytes = signed.subarray(sumBytes);
  const sum = createHmac("sha256", secret).update(`${place}\n`).update(bytes).digest();
  return sum.equals(signed.subarray(0, sumBytes)) ? bytes : undefined;
}

interface Shown extends KnownCheckpoint {
  readonly after?: string;
  readonly snapshot?: readonly [seq: number, kept: boolean, size: number];
  readonly entries: readonly (readonly [seq: number, at: number, digest: string, size: number])[];
}

/** A piece as bytes: what its rows are as JSON, the length of that before it, and their own bytes after it. */
export function encodePiece({ seq, digest, after, snapshot, entries }: Piece): Buffer {
  const shown: Shown = {
    ...{ seq, digest, ...(after !== undefined && { after }) },
    ...(snapshot && { snapshot: [snapshot.seq, snapshot.kept === true, snapshot.bytes.length] }),
    entries: entries.map((row) => [row.seq, row.at, row.digest, row.bytes.length]),
  };
  const text = Buffer.from(JSON.stringify(shown));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(text.length);
  const rows = snapshot === undefined ? entries : [snapshot, ...entries];
  return Buffer.concat([length, text, ...rows.map(({ bytes }) => bytes)]);
}

/** The piece in bytes that `encodePiece` made. */
export function decodePiece(bytes: Buffer): Piece {
  let offset = 4 + bytes.readUInt32BE();
  const { snapshot, entries, ...place } = JSON.parse(bytes.toString("utf8", 4, offset)) as Shown;
  const take = (size: number): Uint8Array => {
    const piece = new Uint8Array(bytes.buffer, bytes.byteOffset + offset, size);
    offset += size;
    return piece;
  };
  const saved: SnapshotRow | undefined = snapshot && {
    seq: snapshot[0],
    bytes: take(snapshot[2]),
    ...(snapshot[1] && { kept: true }),
  };
  const rows: EntryRow[] = entries.map(([seq, at, digest, size]) => ({ seq, at, digest, bytes: take(size) }));
  return { ...place, snapshot: saved, entries: rows };
}

/** What pieces come to; undefined if one does not go on from the one before, or the last leads elsewhere. */
export function joinPieces(
  pieces: readonly Piece[],
  known: KnownCheckpoint,
): Pick<LoadedRun, "snapshot" | "entries"> | undefined {
  const inOrder = pieces.toSorted((one, other) => one.seq - other.seq);
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  const isWhole = inOrder.every(({ after }, index) => after === inOrder[index - 1]?.digest);
  if (!isWhole || last?.seq !== known.seq || last.digest !== known.digest) return undefined;
  return { snapshot: first?.snapshot, entries: inOrder.flatMap(({ entries }) => entries) };
}
