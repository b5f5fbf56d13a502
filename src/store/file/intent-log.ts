/**
 * The intents: a log in which every change is written whole, and synced, before it is made. Whatever a crash leaves of
 * the files, making all intents again, in order, gives what was answered: each says what is to be, never what is to be
 * added, so made twice is made once. The log is emptied when all it asks for is certain to be on the disk.
 *
 * A line is `{"sum":"…","intent":…}` with a checksum of the intent. Each is synced before the next is written, so a crash
 * can damage the last one only, which nobody was told of; damage before a good line is damage.
 */
import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { corrupt } from "./errors.ts";
import { type Files, readWhole } from "./files.ts";
import type { Intent } from "./intent.ts";

const opening = '{"sum":"00000000","intent":';
const sumAt = '{"sum":"'.length;

export class IntentLog {
  readonly #path: string;
  readonly #files: Files;
  #size = 0;
  #number = 0;
  /** Kept open, so that no other file can have its number while this log is in use. */
  #held: { readonly file: number; readonly number: number } | undefined;

  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  get size(): number {
    return this.#size;
  }

  /** The intents in the log; what a crash left of a last one is not among them, and goes with the next `begin`. */
  read(): readonly Intent[] {
    const bytes = readWhole(this.#path) ?? Buffer.alloc(0);
    const intents: Intent[] = [];
    let damagedAt: number | undefined;
    for (let at = 0; at < bytes.length; ) {
      const stop = bytes.indexOf(0x0a, at);
      const intent = stop < 0 ? undefined : parseLine(bytes.toString("utf8", at, stop));
      if (intent === undefined) damagedAt ??= at;
      else if (damagedAt !== undefined || intent.number !== (intents.at(-1)?.number ?? intent.number - 1) + 1)
        throw corrupt(this.#path, `the intent ${intent.number} does not follow the one before byte ${at}`);
      else intents.push(intent);
      at = stop < 0 ? bytes.length : stop + 1;
    }
    this.#size = bytes.length;
    this.#number = intents.at(-1)?.number ?? 0;
    return intents;
  }

  /** Makes an intent certain; says how many bytes it has. One sync. */
  append(intent: Omit<Intent, "number">): number {
    const number = this.#number + 1;
    const line = Buffer.from(lineOf({ number, ...intent }));
    this.#files.writeAt(this.#path, this.#size, line);
    this.#files.sync(this.#path);
    this.#number = number;
    this.#size += line.length;
    return line.length;
  }

  /** Whether the log is as this process left it: nobody else has begun another, written it or taken it away. */
  isOurs(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found?.ino === this.#held?.number && found?.size === this.#size;
  }

  /** Begins another log, and whoever had the old one finds that out: all that was in it was made, and is certain. */
  begin(): void {
    this.#files.replace(this.#path, new Uint8Array());
    this.#files.sync(this.#path);
    this.#files.syncFolder(dirname(this.#path));
    this.close();
    const file = openSync(this.#path, "r");
    this.#held = { file, number: fstatSync(file).ino };
    this.#size = 0;
  }

  /** Empties the log: all that is in it was made, and is certain. Synced, since the next intent is written over it. */
  clear(): void {
    this.#files.writeAt(this.#path, 0, new Uint8Array());
    this.#files.sync(this.#path);
    this.#size = 0;
  }

  close(): void {
    if (this.#held !== undefined) closeSync(this.#held.file);
    this.#held = undefined;
  }
}

function lineOf(intent: Intent): string {
  const text = JSON.stringify(intent);
  return `${opening.slice(0, sumAt)}${sumOf(text)}${opening.slice(sumAt + 8)}${text}}\n`;
}

function parseLine(line: string): Intent | undefined {
  const text = line.slice(opening.length, -1);
  const whole = line.startsWith(opening.slice(0, sumAt)) && line.slice(sumAt, sumAt + 8) === sumOf(text);
  return whole ? (JSON.parse(text) as Intent) : undefined;
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
