/**
 * The entry `holdfast/agent/yjs`: texts, lists and maps that several edit at the same time, as documents of Yjs. A board keeps the
 * updates of a document in a list under one of its keys; whoever opens it has a document that follows, and is followed.
 *
 * Y1. An edit is on the board when `flushed` says so; one that was not when its process died is lost with it.
 * Y2. Updates may come twice and in any order, which Yjs allows: so all documents of a key become equal.
 */
import * as Y from "yjs";
import type { Json } from "../../core/json.ts";
import type { Schema } from "../../core/schema.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { KeyDefinitions } from "./board.ts";
import type { KeyDefinition } from "./keys.ts";
import type { OpenBoard } from "./open.ts";

/**
 * The merge of keys that hold a document: updates are kept one by one, and become one when there are many. A board has it under
 * the name that `textKey` refers to: `keys: { notes: textKey }, merges: { text: mergeText }`.
 */
export function mergeText(current: Json, yours: Json): Json {
  const updates = [...(current as readonly string[]), ...(yours as readonly string[])];
  return updates.length > limits.textUpdatesMax ? [encode(Y.encodeStateAsUpdate(docOf(updates)))] : updates;
}

/** A list of updates, each of which can be read: one that cannot would end the following of all who read it. */
const updatesSchema: Schema = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) => {
      const isList = Array.isArray(value) && value.length > 0;
      const bad = isList ? value.findIndex((update) => !isUpdate(update)) : -1;
      if (isList && bad < 0) return { value };
      return {
        issues: [isList ? { message: "is no update", path: [bad] } : { message: "is no list of updates" }],
      };
    },
  },
};

function isUpdate(update: unknown): boolean {
  try {
    if (typeof update !== "string") return false;
    // Its head alone may be sound; only who applies it reads all of it.
    Y.applyUpdate(new Y.Doc(), decode(update));
    return true;
  } catch {
    return false;
  }
}

/** A key that holds a document. */
export const textKey = { policy: { merge: "text" }, schema: updatesSchema } as const satisfies KeyDefinition;

/** The document that these updates make. */
function docOf(updates: readonly string[]): Y.Doc {
  const doc = new Y.Doc();
  for (const update of updates) applyTo(doc, update);
  return doc;
}

/** Applies an update. One that makes sense alone and none here, as nobody's edit does, is passed over: the text is not lost with it. */
function applyTo(doc: Y.Doc, update: string, origin?: unknown): void {
  try {
    Y.applyUpdate(doc, decode(update), origin);
  } catch {
    // It stays on the board, and says nothing.
  }
}

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const decode = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** A document that is bound to a key of a board. */
export interface SharedText {
  /** Edit it, and observe it, as any document of Yjs. */
  readonly doc: Y.Doc;
  /** Resolves when all edits so far are on the board; rejects if they could not be written, and tries again when it is called again. */
  flushed(): Promise<void>;
  /** Writes what is left, and follows no more. */
  close(): Promise<void>;
}

export interface OpenTextOptions {
  /** A document that may have been edited before: what the board does not know of it is written. */
  readonly doc?: Y.Doc;
  /** Told of what ends the following, as a runtime that is closed. */
  readonly onProblem?: (error: unknown) => void;
}

/** Opens the document under a key; resolves when it has all that is on the board. */
export async function openText<Keys extends KeyDefinitions, Name extends keyof Keys & string>(
  board: OpenBoard<Keys>,
  key: Name,
  { doc = new Y.Doc(), onProblem = () => {} }: OpenTextOptions = {},
): Promise<SharedText> {
  const binding = new Binding(board as unknown as OpenBoard, key, doc);
  await binding.open(onProblem);
  return binding;
}

class Binding implements SharedText {
  readonly doc: Y.Doc;
  readonly #board: OpenBoard;
  readonly #key: string;
  readonly #ending = new AbortController();
  /** What the board was last known to hold. */
  #known: readonly string[] = [];
  /** Updates that are not on the board yet, and the write under way. */
  #pending: Uint8Array[] = [];
  #writing: Promise<void> | undefined;
  #following: Promise<void> = Promise.resolve();

  constructor(board: OpenBoard, key: string, doc: Y.Doc) {
    this.#board = board;
    this.#key = key;
    this.doc = doc;
  }

  async open(onProblem: (error: unknown) => void): Promise<void> {
    const { value, version } = await this.#board.read(this.#key);
    const updates = (value ?? []) as readonly string[];
    const missing = Y.encodeStateAsUpdate(this.doc, Y.encodeStateVector(docOf(updates)));
    this.#take(updates);
    this.doc.on("update", this.#hear);
    if (!isEmpty(missing)) this.#push(missing);
    this.#following = this.#follow(version).catch(onProblem);
  }

  async flushed(): Promise<void> {
    while (this.#pending.length > 0 || this.#writing !== undefined) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
  }

  async close(): Promise<void> {
    this.doc.off("update", this.#hear);
    await this.flushed();
    this.#ending.abort();
    await this.#following;
  }

  readonly #hear = (update: Uint8Array, origin: unknown): void => {
    if (origin !== this) this.#push(update);
  };

  #push(update: Uint8Array): void {
    this.#pending.push(update);
    // Whoever wants to know whether it was written asks `flushed`.
    this.#writing ??= this.#write();
    this.#writing.catch(() => {});
  }

  /** Writes what has gathered, all of it as one, until nothing is left. */
  async #write(): Promise<void> {
    // What is edited in one go is written in one go.
    await Promise.resolve();
    try {
      while (this.#pending.length > 0) {
        const pending = this.#pending;
        const update = encode(Y.mergeUpdates(pending));
        const { outcome } = await this.#board.write(this.#key, [update]);
        if (outcome !== "written") throw unfitError(this.#key, outcome);
        this.#pending = this.#pending.slice(pending.length);
      }
    } finally {
      this.#writing = undefined;
    }
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending;
    for await (const { value } of this.#board.subscribe({ keys: [this.#key], from, signal }))
      this.#take((value ?? []) as readonly string[]);
  }

  /** Applies what the board holds and the document has not had; all of it, if the updates were made one meanwhile. */
  #take(updates: readonly string[]): void {
    const last = this.#known.length - 1;
    const fresh = updates[last] === this.#known[last] ? updates.slice(last + 1) : updates;
    this.#known = updates;
    for (const update of fresh) applyTo(this.doc, update, this);
  }
}

const unfitError = (key: string, outcome: string): HoldfastError =>
  new HoldfastError(
    "BOARD_INVALID",
    `The edits of ${JSON.stringify(key)} were not written (${outcome}): define it as textKey, and without a lease`,
  );

/** Whether an update says nothing: no structs and no deletions. */
const isEmpty = (update: Uint8Array): boolean => update.length === 2 && update[0] === 0 && update[1] === 0;
