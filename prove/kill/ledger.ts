/**
 * The ledger: what a victim told the world before it died, line by line, kept in another process. It is the only witness
 * that the store cannot have talked to.
 *
 * L1. Lines of one process are heard in their order; those of several are not. Where the order counts across processes, the
 *     lines say when they were said, by a clock that all processes of a machine have in common.
 */
import { Chronicle } from "./chronicle.ts";

export class Ledger {
  /** What it says of changes. */
  readonly chronicle = new Chronicle();
  /** Numbers that were acknowledged, by run and event. */
  readonly acked = new Map<string, Set<number>>();
  /** Calls of the tool that is tried again, and starts of the one that may happen once, by key. */
  readonly tools = new Map<string, number>();
  readonly posts = new Map<string, number>();
  /** When the tool was last called, and when its answer was first known to be durable, by key (L1). */
  readonly calledAt = new Map<string, bigint>();
  readonly answered = new Map<string, bigint>();
  /** When each nap was first heard to be over. */
  readonly woke = new Map<number, number>();
  readonly problems: string[] = [];

  /** Takes one line that was heard at this time; says its first word. */
  read(line: string, now: number): string {
    const words = line.split(" ");
    const [word = "", first = "", second = "", third = ""] = words;
    this.chronicle.read(words);
    if (word === "found") this.#find(`${first} ${second}`, Number(third));
    else if (word === "acked") this.#ack(`${first} ${second}`, Number(third));
    else if (word === "tool") this.#call(first, timeIn(line));
    else if (word === "post") this.posts.set(first, (this.posts.get(first) ?? 0) + 1);
    else if (word === "answered") this.#answer(first, timeIn(line));
    else if (word === "woke" && !this.woke.has(Number(first))) this.woke.set(Number(first), now);
    return word;
  }

  get ackedCount(): number {
    return [...this.acked.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** A later life says how many of a kind it found: whatever it sends again must not hide what was lost. */
  #find(kind: string, count: number): void {
    const lost = [...(this.acked.get(kind) ?? [])].filter((n) => n >= count);
    if (lost.length > 0) this.problems.push(`K1: ${kind} ${lost.join(", ")} was acknowledged and lost`);
  }

  #ack(kind: string, n: number): void {
    const numbers = this.acked.get(kind) ?? new Set();
    this.acked.set(kind, numbers.add(n));
  }

  #call(key: string, at: bigint): void {
    this.tools.set(key, (this.tools.get(key) ?? 0) + 1);
    const answeredAt = this.answered.get(key);
    if (answeredAt !== undefined && at > answeredAt) this.#calledAgain(key);
    if (at > (this.calledAt.get(key) ?? 0n)) this.calledAt.set(key, at);
  }

  #answer(key: string, at: bigint): void {
    if ((this.answered.get(key) ?? at) >= at) this.answered.set(key, at);
    // A call that came after it may have been heard before it.
    if ((this.calledAt.get(key) ?? 0n) > at) this.#calledAgain(key);
  }

  #calledAgain(key: string): void {
    this.problems.push(`the tool was called again for ${key} after its answer was durable`);
  }
}

/** Now, for a line of which the order counts (L1): no clock that somebody sets. */
export const moment = (): bigint => process.hrtime.bigint();

/** When a line says that it was said. */
function timeIn(line: string): bigint {
  const time = /^\S+ \S+ (\d+)$/.exec(line)?.[1];
  if (time === undefined) throw new Error(`The line ${JSON.stringify(line)} does not say when it was said`);
  return BigInt(time);
}

/** Cuts what comes through a pipe into lines; one that its writer did not finish is not told. */
export function byLine(tell: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(tell);
  };
}
