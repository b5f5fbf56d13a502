/**
 * The part of the ledger that tells of changes: what was said to be under way and what was acknowledged of going back,
 * forking, moving, removing, pruning and copying.
 */
export interface Forking {
  readonly source: string;
  readonly seq: number;
  readonly edited: boolean;
  acked: boolean;
}

export interface Copying {
  acked: boolean;
  /** What was acknowledged before it began: events by run, and the newest checkpoint of each run. */
  readonly sent: ReadonlyMap<string, ReadonlySet<string>>;
  readonly reached: ReadonlyMap<string, number>;
  /** Whatever may have been removed or pruned until it was made. */
  readonly ending: ReadonlySet<string>;
}

/** A removal that was begun: what might have gone with it. */
interface Retaining {
  readonly ending: ReadonlySet<string>;
  readonly held: ReadonlySet<string>;
}

export class Chronicle {
  /** Events that were acknowledged, as `type number`, by run. */
  readonly sent = new Map<string, Set<string>>();
  /** The digest of each checkpoint that was acknowledged as it is, by run. */
  readonly stands = new Map<string, Map<number, string>>();
  readonly backs: { readonly run: string; readonly to: number; readonly seq: number }[] = [];
  readonly forks = new Map<string, Forking>();
  readonly migrations: { readonly run: string; readonly to: number; readonly after: number }[] = [];
  /** The newest versions of `swap` that were begun to be deployed, and that were. */
  deploying = 1;
  deployed = 1;
  readonly ending = new Set<string>();
  readonly held = new Set<string>();
  readonly removed = new Set<string>();
  /** Whether anything may have been pruned, and up to where it was for certain. */
  isPruning = false;
  readonly pruned = new Map<string, number>();
  readonly copies = new Map<number, Copying>();
  readonly problems: string[] = [];
  /** Removals of which nobody was told the end. */
  readonly #open: Retaining[] = [];

  /** Takes the words of one line; those it does not know are somebody else's. */
  read(words: readonly string[]): void {
    const [word = "", first = "", second = "", third = ""] = words;
    switch (word) {
      case "acked":
        entryOf(this.sent, first, () => new Set<string>()).add(`${second} ${third}`);
        break;
      case "stands":
        entryOf(this.stands, first, () => new Map<number, string>()).set(Number(second), third);
        break;
      case "back":
        this.backs.push({ run: first, to: Number(second), seq: Number(third) });
        break;
      case "forking":
        this.#fork(words);
        break;
      case "forked":
        (this.forks.get(first) as Forking).acked = true;
        break;
      case "migrated":
        this.migrations.push({ run: first, to: Number(second), after: Number(third) });
        break;
      case "deploying":
        this.deploying = Math.max(this.deploying, Number(first));
        break;
      case "deployed":
        this.deployed = Math.max(this.deployed, Number(first));
        break;
      case "left":
        this.problems.push(`K12: a deploy left ${words.slice(1).join(" ")} behind`);
        break;
      default:
        this.#readUpkeep(word, first, Number(second));
    }
  }

  #readUpkeep(word: string, first: string, seq: number): void {
    if (word === "ending") this.ending.add(first);
    else if (word === "held") this.held.add(first);
    else if (word === "releasing") this.held.delete(first);
    else if (word === "retaining")
      this.#open.push({ ending: new Set(this.ending), held: new Set(this.held) });
    else if (word === "removed") this.#remove(first);
    else if (word === "retained") this.#open.pop();
    else if (word === "pruning") this.isPruning = true;
    else if (word === "pruned") this.pruned.set(first, seq);
    else if (word === "backing") this.#copy(Number(first));
    else if (word === "backed") (this.copies.get(Number(first)) as Copying).acked = true;
  }

  /** Whether a run may be gone though nobody was told so: it was about to end, not held, and somebody was tidying up. */
  mayBeGone(run: string): boolean {
    return this.#open.some(({ ending, held }) => ending.has(run) && !held.has(run));
  }

  #fork([, id = "", source = "", seq = "", how = ""]: readonly string[]): void {
    this.forks.set(id, { source, seq: Number(seq), edited: how === "edited", acked: false });
    // What was sent to its end and rests keeps that for later, and so does its fork.
    if (this.ending.has(source)) this.ending.add(id);
  }

  #remove(run: string): void {
    this.removed.add(run);
    if (this.held.has(run)) this.problems.push(`K13: ${run} was removed and is held`);
    if (!this.ending.has(run)) this.problems.push(`K13: ${run} was removed and had not ended`);
  }

  #copy(at: number): void {
    const sent = new Map([...this.sent].map(([run, events]) => [run, new Set(events)]));
    const reached = new Map([...this.stands].map(([run, digests]) => [run, Math.max(...digests.keys())]));
    this.copies.set(at, { acked: false, sent, reached, ending: new Set(this.ending) });
  }
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
