/** Streams: pieces are kept once, in order and without gaps, no later than their answer, and every reader hears the same (invariant 14). */
import { decode } from "../../../src/store/codec.ts";
import type { ChunkRow, RunName } from "../../../src/store/records.ts";
import type { Piece } from "../ledger.ts";
import type { Model, Said } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** What a stream has; nothing for one that nobody has said anything in. */
export function saidIn(model: Model, run: string, key: string): readonly Said[] {
  return model.find({ run })?.said.get(key) ?? [];
}

/** Pieces were added to a stream: those whose offset is taken are left. */
export function addChunks(
  model: Model,
  name: RunName,
  key: string,
  rows: readonly ChunkRow[],
  report: Report,
): void {
  const run = model.find(name);
  if (run === undefined) return;
  const said = run.said.get(key) ?? [];
  run.said.set(key, said);
  for (const { offset, attempt, bytes } of rows) {
    if (offset < said.length) continue;
    const piece = decode(bytes, "a piece") as unknown as Piece;
    const what = `piece ${offset} of ${name.run}:${key}`;
    if (offset > said.length) report(14, `${what} comes after ${said.length}`);
    checkOrder(said.at(-1), { attempt, piece }, what, report);
    said.push({ attempt, piece });
  }
}

/** A piece comes after the one before it of the same attempt, or begins a later one. */
function checkOrder(before: Said | undefined, { attempt, piece }: Said, what: string, report: Report): void {
  const isNext = before?.piece.start === piece.start && before.piece.n + 1 === piece.n;
  if (isNext ? before?.attempt !== attempt : piece.n !== 0)
    report(14, `${what}, ${show(piece)}, comes after ${before && show(before.piece)}`);
  if (!isNext && before !== undefined && attempt <= before.attempt)
    report(14, `${what} is of attempt ${attempt}, and what it takes the place of, of ${before.attempt}`);
}

/** Whoever said a piece was told that it is durable. */
export function checkSaid(said: readonly Said[], key: string, piece: Piece, report: Report): void {
  const times = said.filter((one) => isSame(one.piece, piece)).length;
  if (times !== 1)
    report(14, `${key} was told that ${show(piece)} is durable, and it is there ${times} times`);
}

/** The run took the answer of an attempt: whatever that said is there by then. */
export function checkSaidAll(
  said: readonly Said[],
  key: string,
  { start, pieces }: { readonly start: number; readonly pieces: number },
  report: Report,
): void {
  const kept = said.filter(({ piece }) => piece.start === start).length;
  if (kept < pieces) report(14, `${key} gave its answer, and ${kept} of its ${pieces} pieces are there`);
}

/** A reader was given a piece. */
export function checkHeard(
  said: readonly Said[],
  chunk: { readonly offset: number; readonly attempt: number; readonly data: unknown },
  wanted: number,
  key: string,
  report: Report,
): void {
  const { offset, attempt, data } = chunk;
  if (offset !== wanted) report(14, `a reader of ${key} was given piece ${offset} for ${wanted}`);
  if (!isSame({ attempt, piece: data }, said[offset]))
    report(14, `a reader of ${key} was given ${JSON.stringify(chunk)} for ${JSON.stringify(said[offset])}`);
}

const show = ({ start, n }: Piece): string => `${start}.${n}`;
