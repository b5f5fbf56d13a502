/** The tables that the file store lends to the memory store's decisions: they look like maps, and are files. */
import { type LeaseRow, unowned } from "../lease.ts";
import type { StoredRun, Tables } from "../memory/tables.ts";
import type { ContentRow, DeadLetterRow, DocumentRow, RunHead } from "../records.ts";
import { Fields } from "./fields.ts";
import { type Folder, places } from "./folder.ts";
import type { Intent, RunChange } from "./intent.ts";
import { contentOf, documentOf, leaseOf, showContent, showDocument, showLetter } from "./rows.ts";
import { FileRun } from "./run-rows.ts";

/** What one call changed, and of which runs. */
export interface Change extends Omit<Intent, "number"> {
  readonly changed: ReadonlySet<FileRun>;
}

export class FileTables implements Tables {
  readonly runs = new Map<string, StoredRun>();
  readonly deadLetters: Letters;
  readonly #folder: Folder;
  #lease = unowned;
  #lettersLost = 0;
  #isStoreChanged = false;
  #changed = new Set<FileRun>();

  constructor(folder: Folder) {
    this.#folder = folder;
    this.deadLetters = new Letters(folder);
  }

  get lease(): LeaseRow {
    return this.#lease;
  }

  set lease(lease: LeaseRow) {
    this.#lease = lease;
    this.#isStoreChanged = true;
  }

  get lettersLost(): number {
    return this.#lettersLost;
  }

  set lettersLost(count: number) {
    this.#lettersLost = count;
    this.#isStoreChanged = true;
  }

  readonly contents = {
    has: (place: string): boolean => this.#folder.has(contentFile(place)),
    get: (place: string): ContentRow | undefined => this.#folder.read(contentFile(place), contentOf),
    set: (place: string, row: ContentRow) => {
      this.#folder.put(contentFile(place), showContent(row));
      return this.contents as never;
    },
  };

  readonly documents = {
    get: (place: string): DocumentRow | undefined => this.#folder.read(documentFile(place), documentOf),
    set: (place: string, row: DocumentRow) => {
      const [, name] = JSON.parse(place) as [string, string];
      this.#folder.put(documentFile(place), showDocument(name, row));
      return this.documents as never;
    },
  };

  createRun(head: RunHead): FileRun {
    return new FileRun(head, this.#folder, (run) => this.#changed.add(run));
  }

  /** What was changed since this was last asked; undefined if nothing was. */
  take(): Change | undefined {
    if (this.#isStoreChanged)
      this.#folder.put(places.store, { lease: this.#lease, deadLettersLost: this.#lettersLost });
    this.#isStoreChanged = false;
    const files = this.#folder.take();
    const changed = this.#changed;
    if (files.length === 0 && changed.size === 0) return undefined;
    this.#changed = new Set();
    return { files, runs: [...changed].map((run) => run.takeChange()), changed };
  }

  /** Whether there is something to take. */
  isChanged(): boolean {
    return this.#isStoreChanged || this.#changed.size > 0 || this.#folder.isChanged();
  }

  /** Puts back what the store says of itself. */
  restoreStore(value: unknown): void {
    const fields = new Fields(value);
    this.#lease = leaseOf(fields.object("lease"));
    this.#lettersLost = fields.count("deadLettersLost");
  }

  /** Puts back a run, or a change of one that is there. */
  restoreRun(change: RunChange): FileRun {
    const { tenant, run } = change.head;
    const name = JSON.stringify([tenant, run]);
    const known = change.whole ? undefined : (this.runs.get(name) as FileRun | undefined);
    if (known === undefined && !change.whole)
      throw new Error(`there is nothing of the run ${name} to change`);
    const found = known ?? this.createRun(change.head);
    found.restore(change);
    this.runs.set(name, found);
    return found;
  }
}

class Letters extends Map<number, DeadLetterRow> {
  readonly #folder: Folder;

  constructor(folder: Folder) {
    super();
    this.#folder = folder;
  }

  override set(number: number, row: DeadLetterRow): this {
    this.#folder.put(places.letter(row.tenant, number), showLetter(row));
    return super.set(number, row);
  }

  override delete(number: number): boolean {
    const row = this.get(number);
    if (row !== undefined) this.#folder.remove(places.letter(row.tenant, number));
    return super.delete(number);
  }

  /** Puts back letters that are in their files, in the order of their numbers. */
  restore(rows: readonly DeadLetterRow[]): void {
    for (const row of rows) super.set(row.number, row);
  }
}

function contentFile(place: string): string {
  return places.content(...(JSON.parse(place) as [string, string, string]));
}

function documentFile(place: string): string {
  return places.document(...(JSON.parse(place) as [string, string]));
}
