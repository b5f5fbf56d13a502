/**
 * Time in the simulated world: a queue of what is to happen, and a wall clock that can be set wrong.
 *
 * Waiting follows the steady clock, which only ever goes forward; `now` is the wall clock, which jumps. Whatever belongs
 * to a process happens only while that process is there: not after its death, and not before it goes on if it stands
 * still.
 */
import type { Clock } from "../../src/runtime/clock.ts";

/** A process, as far as time needs to know it. */
export interface Owner {
  readonly status: "alive" | "paused" | "dead";
  /** Keeps something for the time when the process goes on. */
  hold(run: () => void): void;
}

interface Task {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
  cancelled: boolean;
}

/** The wall clock at the beginning: some moment in the middle of nowhere. */
const beginning = 1_000_000_000;

export class Time {
  /** Milliseconds since the world began. */
  steady = 0;
  /** The furthest the wall clock has ever been. */
  furthest = beginning;
  /** Whether the wall clock was ever set. */
  jumped = false;
  #offset = beginning;
  #order = 0;
  readonly #heap: Task[] = [];

  now(): number {
    return this.#offset + Math.floor(this.steady);
  }

  /** Calls back after so many milliseconds; the result takes it back. */
  after(ms: number, run: () => void, owner?: Owner): () => void {
    const task: Task = {
      at: this.steady + Math.max(0, ms),
      order: this.#order++,
      owner,
      run,
      cancelled: false,
    };
    this.#push(task);
    return () => {
      task.cancelled = true;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Sets the wall clock wrong, or right. */
  jump(ms: number): void {
    this.#offset += ms;
    this.jumped = true;
    this.furthest = Math.max(this.furthest, this.now());
  }

  /** Does the next thing, if it is to happen by then; says whether there was one. */
  advance(until: number): boolean {
    let task = this.#heap[0];
    for (; task?.cancelled; task = this.#heap[0]) this.#pop();
    if (task === undefined || task.at > until) {
      this.steady = Math.max(this.steady, until);
      this.furthest = Math.max(this.furthest, this.now());
      return false;
    }
    this.#pop();
    this.steady = Math.max(this.steady, task.at);
    this.furthest = Math.max(this.furthest, this.now());
    if (task.owner === undefined) task.run();
    else happenTo(task.owner, task.run);
    return true;
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let place = heap.push(task) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(task, heap[above] as Task)) break;
      heap[place] = heap[above] as Task;
      place = above;
    }
    heap[place] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Task;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Task, heap[below] as Task)) below++;
      if (!isBefore(heap[below] as Task, last)) break;
      heap[place] = heap[below] as Task;
      place = below;
    }
    heap[place] = last;
  }
}

/** Something reaches a process: now, when it goes on, or never. */
export function happenTo(owner: Owner, run: () => void): void {
  if (owner.status === "alive") run();
  else if (owner.status === "paused") owner.hold(run);
}

/** The clock as one process sees it. */
export function clockOf(time: Time, owner: Owner): Clock {
  return {
    now: () => time.now(),
    after: (ms, run) => time.after(ms, run, owner),
    soon: (run) => void time.after(0, run, owner),
  };
}

function isBefore(one: Task, other: Task): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
