/**
 * The store's directory, as a call finds it: its files, with what this call is going to change already in them. Changes
 * are collected here, become an intent, and are made once that is certain.
 */
import { posix } from "node:path";
import { isHoldfastError } from "../../errors.ts";
import { corrupt } from "./errors.ts";
import { listFolder, type ReadPart, readParts, readWhole, sizeOf } from "./files.ts";
import type { FileChange } from "./intent.ts";
import { lineOf } from "./lines.ts";
import { fileName } from "./names.ts";

const removed = Symbol("removed");

export class Folder {
  readonly path: string;
  #changes: FileChange[] = [];
  readonly #pending = new Map<string, unknown>();

  constructor(path: string) {
    this.path = path;
  }

  put(name: string, value: unknown): void {
    this.#changes.push({ put: name, value });
    this.#pending.set(name, value);
  }

  remove(name: string): void {
    this.#changes.push({ remove: name });
    this.#pending.set(name, removed);
  }

  /** Makes the changes of an intent pending again. */
  restore(changes: readonly FileChange[]): void {
    for (const change of changes) {
      if ("put" in change) this.put(change.put, change.value);
      else if ("remove" in change) this.remove(change.remove);
      else this.#changes.push(change);
    }
  }

  /** Adds lines at a place that is the file's end; says where its end is then. */
  append(name: string, at: number, lines: readonly unknown[]): number {
    if (lines.length === 0) return at;
    this.#changes.push({ append: name, at, lines });
    return lines.reduce<number>((end, line) => end + Buffer.byteLength(lineOf(line)), at);
  }

  /** Gives a file of lines these and no others; says where its end is then. */
  rewrite(name: string, lines: readonly unknown[]): number {
    if (lines.length === 0) this.remove(name);
    return this.append(name, 0, lines);
  }

  /** The changes of this call, which are then no longer pending. */
  take(): readonly FileChange[] {
    const changes = this.#changes;
    this.#changes = [];
    this.#pending.clear();
    return changes;
  }

  isChanged(): boolean {
    return this.#changes.length > 0;
  }

  has(name: string): boolean {
    const pending = this.#pending.get(name);
    return pending === undefined ? sizeOf(this.at(name)) > 0 : pending !== removed;
  }

  /** What is in a file, made of its JSON; undefined if it is not there. Throws STORE_CORRUPT if it cannot be made. */
  read<Value>(name: string, make: (json: unknown) => Value): Value | undefined {
    const pending = this.#pending.get(name);
    if (pending === removed) return undefined;
    if (pending !== undefined) return make(pending);
    const bytes = readWhole(this.at(name));
    return bytes === undefined ? undefined : this.check(name, () => make(JSON.parse(bytes.toString("utf8"))));
  }

  /** The same of a file that must be there. */
  need<Value>(name: string, make: (json: unknown) => Value): Value {
    return this.read(name, make) ?? this.check(name, () => fail("it is not there"));
  }

  /** Reads parts of a file, and has whatever is wrong with them told as damage of that file. */
  readParts<Value>(name: string, work: (read: ReadPart) => Value): Value {
    return this.check(name, () => readParts(this.at(name), work));
  }

  size(name: string): number {
    return sizeOf(this.at(name));
  }

  /** The names in a folder of this directory. */
  list(name: string): readonly string[] {
    const names = new Set(listFolder(this.at(name)));
    for (const [path, pending] of this.#pending) {
      if (!path.startsWith(`${name}/`)) continue;
      const [first = "", ...deeper] = path.slice(name.length + 1).split("/");
      if (pending !== removed) names.add(first);
      else if (deeper.length === 0) names.delete(first);
    }
    return [...names];
  }

  /** The files of all dead letters. */
  letterFiles(): readonly string[] {
    return this.list(places.tenants).flatMap((tenant) => {
      const folder = places.letters(tenant);
      return this.list(folder)
        .filter((name) => /^\d+\.json$/.test(name))
        .map((name) => `${folder}/${name}`);
    });
  }

  /** The path of a file in this directory. */
  at(name: string): string {
    return posix.join(this.path, name);
  }

  /** What the work gives; an error in it is damage of that file, unless a system call failed. */
  check<Value>(name: string, work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      const { code, syscall } = error as { code?: unknown; syscall?: unknown };
      // A file that is not there where it should be was taken away, which is damage as well.
      if (isHoldfastError(error) || (syscall !== undefined && code !== "ENOENT")) throw error;
      throw corrupt(this.at(name), error);
    }
  }
}

function fail(problem: string): never {
  throw new Error(problem);
}

/** Where everything has its file. */
export const places = {
  store: "store.json",
  tenants: "tenants",
  runs: (tenantFolder: string) => `tenants/${tenantFolder}/runs`,
  letters: (tenantFolder: string) => `tenants/${tenantFolder}/dead-letters`,
  run: (tenant: string, run: string) => `tenants/${fileName(tenant)}/runs/${fileName(run)}`,
  letter: (tenant: string, number: number) => `tenants/${fileName(tenant)}/dead-letters/${number}.json`,
  contents: (tenantFolder: string) => `tenants/${tenantFolder}/contents`,
  documents: (tenantFolder: string) => `tenants/${tenantFolder}/documents`,
  content: (tenant: string, subject: string, digest: string) =>
    `tenants/${fileName(tenant)}/contents/${fileName(subject)}/${fileName(digest)}.json`,
  document: (tenant: string, name: string) => `tenants/${fileName(tenant)}/documents/${fileName(name)}.json`,
} as const;
