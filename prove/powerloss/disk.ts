/**
 * A disk that keeps its word and no more: what was synced is there; of what was written since, each piece is kept, lost
 * or torn, in any order; a name made or removed is certain only after its folder was synced. An image is what may be
 * found on it after a power cut.
 *
 * What it holds to is what SQLite asks of a disk: a sync that returned is true, and a write touches no byte outside it.
 */
import type { Random } from "../../test/generate/random.ts";
import type { Operation } from "./recording.ts";

type Change = Extract<Operation, { kind: "write" | "truncate" }>;
/** What names stand for from then on, all of them or none. */
type Naming = readonly (readonly [name: string, file: File | undefined])[];

/** A file by itself: it may have lost its name, or never have got one. */
class File {
  durable: Buffer = Buffer.alloc(0);
  pending: Change[] = [];

  sync(): void {
    this.durable = applyAll(this.durable, this.pending);
    this.pending = [];
  }
}

/** The contents of each file, by name. */
export type Image = ReadonlyMap<string, Buffer>;

const sectorBytes = 512;

export class Disk {
  /** What the folder has for certain, what changed since, and what the process sees. */
  readonly #durable = new Map<string, File>();
  #pending: Naming[] = [];
  readonly #seen = new Map<string, File>();

  /** Does what the process did. */
  apply(operation: Operation): void {
    if (operation.kind === "said") return;
    if (operation.kind === "syncFolder") this.#syncFolder();
    else if (operation.kind === "create") this.#name([[operation.name, new File()]]);
    else if (operation.kind === "unlink") this.#name([[operation.name, undefined]]);
    else {
      const file = this.#seen.get(operation.name);
      if (file === undefined) throw new Error(`${operation.kind} on ${operation.name}, which is not there`);
      if (operation.kind === "sync") file.sync();
      else if (operation.kind === "rename")
        this.#name([
          [operation.name, undefined],
          [operation.to, file],
        ]);
      else file.pending.push(operation);
    }
  }

  /** One of the things a power cut may leave. */
  image(random: Random): Image {
    const folder = new Map(this.#durable);
    // What happens to one name happens in order; different names know nothing of each other.
    const lost = new Set<string>();
    const loss = random.pick([0, 0.5, 1]);
    for (const naming of this.#pending) {
      if (naming.some(([name]) => lost.has(name)) || random.chance(loss))
        for (const [name] of naming) lost.add(name);
      else for (const [name, file] of naming) setOrDelete(folder, name, file);
    }
    return new Map([...folder].map(([name, file]) => [name, surviving(file, random)]));
  }

  #name(naming: Naming): void {
    for (const [name, file] of naming) setOrDelete(this.#seen, name, file);
    this.#pending.push(naming);
  }

  #syncFolder(): void {
    for (const naming of this.#pending)
      for (const [name, file] of naming) setOrDelete(this.#durable, name, file);
    this.#pending = [];
  }
}

function setOrDelete(folder: Map<string, File>, name: string, file: File | undefined): void {
  if (file === undefined) folder.delete(name);
  else folder.set(name, file);
}

/** How a power cut treats the writes of one file; each image draws one, so that extremes are as likely as mixtures. */
function drawFate(random: Random): { keep: number; tear: number; shuffle: boolean; garbage: boolean } {
  return {
    keep: random.pick([0, 0.1, 0.5, 0.9, 1]),
    tear: random.pick([0, 0, 0.2, 1]),
    shuffle: random.chance(0.5),
    garbage: random.chance(0.2),
  };
}

function surviving({ durable, pending }: File, random: Random): Buffer {
  const fate = drawFate(random);
  let contents: Buffer = Buffer.from(durable);
  for (const change of fate.shuffle ? shuffled(pending, random) : pending) {
    if (!random.chance(fate.keep)) {
      if (fate.garbage && change.kind === "write") contents = growWithGarbage(contents, change, random);
    } else if (change.kind === "write" && random.chance(fate.tear)) contents = tear(contents, change, random);
    else contents = applyAll(contents, [change]);
  }
  return contents;
}

/** A write of which only some sectors, or only the first bytes, got through. */
function tear(contents: Buffer, change: Extract<Change, { kind: "write" }>, random: Random): Buffer {
  const { offset, bytes } = change;
  if (random.chance(0.5)) {
    const end = random.below(bytes.length + 1);
    return applyAll(contents, [{ ...change, bytes: bytes.subarray(0, end) }]);
  }
  const pieces: Change[] = [];
  for (let at = 0; at < bytes.length; ) {
    // Sectors are those of the file, whatever the offset of the write.
    const end = Math.min(bytes.length, at + sectorBytes - ((offset + at) % sectorBytes));
    if (random.chance(0.5)) pieces.push({ ...change, offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return applyAll(contents, pieces);
}

/** The file grew and what was to be there did not arrive: it has whatever the disk had. */
function growWithGarbage(
  contents: Buffer,
  { name, offset, bytes }: Extract<Change, { kind: "write" }>,
  random: Random,
): Buffer {
  const end = offset + bytes.length;
  if (end <= contents.length) return contents;
  const garbage = Buffer.from(Array.from({ length: end - contents.length }, () => random.below(256)));
  return applyAll(contents, [{ kind: "write", name, offset: contents.length, bytes: garbage }]);
}

/** The contents after these changes; the buffer that is given may be changed. */
function applyAll(contents: Buffer, changes: readonly Change[]): Buffer {
  const sizeMax = changes.reduce(
    (size, change) =>
      Math.max(size, change.kind === "write" ? change.offset + change.bytes.length : change.size),
    contents.length,
  );
  const room = sizeMax > contents.length ? Buffer.concat([contents], sizeMax) : contents;
  let size = contents.length;
  for (const change of changes) {
    if (change.kind === "write") {
      change.bytes.copy(room, change.offset);
      if (change.bytes.length > 0) size = Math.max(size, change.offset + change.bytes.length);
    } else {
      room.fill(0, Math.min(change.size, size), size);
      size = change.size;
    }
  }
  return room.subarray(0, size) as Buffer;
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as Item);
}
