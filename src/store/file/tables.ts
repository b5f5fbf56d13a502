/** The tables that the file store lends to the memory store's decisions: they look like maps, and are files. */
import { posix } from "node:path";
import { type HoldfastError, isHoldfastError } from "../../errors.ts";
import { type LeaseRow, unowned } from "../lease.ts";
import type { Contents, Removal, StoredRun, Tables } from "../memory/tables.ts";
import type { ContentRow, DeadLetterRow, DocumentRow, RunHead, RunName } from "../records.ts";
import { Fields } from "./fields.ts";
import { type Folder, places } from "./folder.ts";
import type { Intent, RunChange } from "./intent.ts";
import { nameIn } from "./names.ts";
import { contentOf, documentOf, leaseOf, removalOf, showContent, showDocument, showLetter } from "./rows.ts";
import { FileRun } from "./run-rows.ts";
import { salvage } from "./salvage.ts";

/** What one call changed, and of which runs. */
export interface Change extends Omit<Intent, "number"> {
  readonly changed: ReadonlySet<FileRun>;
  readonly removed: ReadonlySet<FileRun>;
}

export class FileTables implements Tables {
  /** One process has the folder: nobody shares it. */
  readonly members = [];
  readonly damaged = new Damaged((name, run) => {
    this.runs.set(name, run);
    this.#changed.add(run);
  });
  readonly runs = new Runs((run) => this.#remove(run), this.damaged);
  readonly deadLetters: Letters;
  readonly #folder: Folder;
  #lease = unowned;
  #lettersLost = 0;
  #documentsRemoved = 0;
  #removals: readonly Removal[] = [];
  #isStoreChanged = false;
  #changed = new Set<FileRun>();
  #removed = new Set<FileRun>();

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

  get documentsRemoved(): number {
    return this.#documentsRemoved;
  }

  set documentsRemoved(version: number) {
    this.#documentsRemoved = version;
    this.#isStoreChanged = true;
  }

  get removals(): readonly Removal[] {
    return this.#removals;
  }

  set removals(removals: readonly Removal[]) {
    this.#removals = removals;
    this.#isStoreChanged = true;
  }

  readonly contents: Contents = {
    has: (place: string): boolean => this.#folder.has(contentFile(place)),
    get: (place: string): ContentRow | undefined => this.#folder.read(contentFile(place), contentOf),
    set: (place: string, row: ContentRow) => {
      const [tenant, subject] = JSON.parse(place) as [string, string];
      this.#folder.put(contentFile(place), showContent(tenant, subject, row));
      return this.contents as never;
    },
    delete: (place: string) => this.#removeFile(contentFile(place)),
    keys: () =>
      this.#folder
        .list(places.tenants)
        .flatMap((tenant) =>
          this.#folder
            .list(places.contents(tenant))
            .flatMap((subject) => this.#contentsIn(`${places.contents(tenant)}/${subject}`)),
        )
        .values(),
    of: (tenant, subject) => this.#contentsIn(posix.dirname(places.content(tenant, subject, ""))),
  };

  readonly documents = {
    get: (place: string): DocumentRow | undefined => this.#folder.read(documentFile(place), documentOf),
    set: (place: string, row: DocumentRow) => {
      const [tenant, name] = JSON.parse(place) as [string, string];
      this.#folder.put(documentFile(place), showDocument(tenant, name, row));
      return this.documents as never;
    },
    delete: (place: string) => this.#removeFile(documentFile(place)),
    keys: () =>
      this.#folder
        .list(places.tenants)
        .flatMap((tenant) => this.#placesIn(places.documents(tenant), ["tenant", "name"]))
        .values(),
  };

  #contentsIn(folder: string): readonly string[] {
    return this.#placesIn(folder, ["tenant", "subject", "digest"]);
  }

  /** The places of the files in a folder, by these fields: as its path tells them, or else the file itself. */
  #placesIn(folder: string, fields: readonly string[]): readonly string[] {
    return this.#folder
      .list(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const [, tenant = "", , ...rest] = `${folder}/${name.slice(0, -".json".length)}`.split("/");
        const names = [tenant, ...rest].map(nameIn);
        if (!names.includes(undefined)) return JSON.stringify(names);
        return this.#told(`${folder}/${name}`, fields);
      });
  }

  /** The place that a file tells itself; none, if it is damaged as well as cut in its name. */
  #told(file: string, names: readonly string[]): readonly string[] {
    try {
      const values = this.#folder.need(file, (value) => names.map((name) => new Fields(value).text(name)));
      return [JSON.stringify(values)];
    } catch (error) {
      if (isHoldfastError(error)) return [];
      throw error;
    }
  }

  #removeFile(file: string): boolean {
    const isThere = this.#folder.has(file);
    if (isThere) this.#folder.remove(file);
    return isThere;
  }

  #remove(run: FileRun): void {
    run.remove();
    this.#removed.add(run);
    this.#changed.delete(run);
  }

  createRun(head: RunHead): FileRun {
    return new FileRun(head, this.#folder, (run) => this.#changed.add(run));
  }

  /** What was changed since this was last asked; undefined if nothing was. */
  take(): Change | undefined {
    if (this.#isStoreChanged)
      this.#folder.put(places.store, {
        ...{ lease: this.#lease, deadLettersLost: this.#lettersLost, removals: this.#removals },
        documentsRemoved: this.#documentsRemoved,
      });
    this.#isStoreChanged = false;
    const [changed, removed] = [this.#changed, this.#removed];
    this.#changed = new Set();
    this.#removed = new Set();
    const runs = [
      ...Array.from(removed, ({ head: { tenant, run } }) => ({ removed: { tenant, run } })),
      ...Array.from(changed, (run) => run.takeChange()),
    ];
    const files = this.#folder.take();
    return files.length === 0 && runs.length === 0 ? undefined : { files, runs, changed, removed };
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
    this.#removals = fields.list("removals").map(removalOf);
    this.#documentsRemoved = fields.optional("documentsRemoved", fields.count).documentsRemoved ?? 0;
  }

  /** Takes back a run that was removed later; gives it, if it was there. */
  restoreRemoval({ tenant, run }: RunName): FileRun | undefined {
    const name = JSON.stringify([tenant, run]);
    const found = this.runs.get(name) as FileRun | undefined;
    this.runs.restoreRemoval(name);
    return found;
  }

  /** Keeps what is left of a run whose file is damaged; false where nobody can tell which run that was. */
  restoreDamaged(file: string, error: HoldfastError): boolean {
    const run = salvage(this.#folder, file, (found) => this.#changed.add(found));
    if (run === undefined) return false;
    const { tenant, run: name } = run.head;
    this.damaged.set(JSON.stringify([tenant, name]), { run, error, problem: error.message });
    return true;
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

/** Runs whose `<run>.json` is damaged, with what their other files tell. */
class Damaged extends Map<string, { run: FileRun; error: HoldfastError; problem: string }> {
  readonly #healed: (name: string, run: FileRun) => void;

  constructor(healed: (name: string, run: FileRun) => void) {
    super();
    this.#healed = healed;
  }

  heal(name: string): void {
    const found = this.get(name);
    if (found === undefined) return;
    this.delete(name);
    this.#healed(name, found.run);
  }
}

/** The runs; one that is taken out is removed, and for one that is damaged the error is thrown. */
class Runs extends Map<string, StoredRun> {
  readonly #remove: (run: FileRun) => void;
  readonly #damaged: Damaged;

  constructor(remove: (run: FileRun) => void, damaged: Damaged) {
    super();
    this.#remove = remove;
    this.#damaged = damaged;
  }

  override get(name: string): StoredRun | undefined {
    const damaged = this.#damaged.get(name);
    if (damaged !== undefined) throw damaged.error;
    return super.get(name);
  }

  override delete(name: string): boolean {
    const run = this.get(name);
    if (run !== undefined) this.#remove(run as FileRun);
    return super.delete(name);
  }

  /** Takes out one whose files are no more, or will be none. */
  restoreRemoval(name: string): void {
    super.delete(name);
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
