/** One state whose shorthand is being expanded: what it has of its own stays, and what is added knows where it is from. */
import { type Checker, listOf, type Parts } from "../compiler.ts";
import { isObject } from "../json.ts";
import { constantMs } from "../policy.ts";
import { inside, type Problems } from "../problem.ts";

/** A way from the state to one of its parts. */
export type Keys = readonly (string | number)[];

/** What the expansions of one definition share. */
export interface Budget {
  readonly problems: Problems;
  /** How many workers its maps may still have. */
  workersLeft: number;
}

export class Expansion {
  /** The keys on the way to the state, and its place. */
  readonly path: readonly string[];
  readonly place: string;
  readonly checker: Checker;
  readonly budget: Budget;
  readonly #state: Record<string, unknown>;

  constructor(state: Parts, path: readonly string[], place: string, budget: Budget) {
    this.#state = { ...state };
    this.path = path;
    this.place = place;
    this.checker = budget.problems;
    this.budget = budget;
  }

  get state(): Parts {
    return this.#state;
  }

  /** Sets a part that the state does not have of its own. */
  set(key: string, value: unknown, written: string): void {
    this.#state[key] = value;
    this.from([key], written);
  }

  /** Says that a place inside the state came from what the author wrote at `written`. */
  from(keys: Keys, written: string): Keys {
    this.budget.problems.origin(inside(this.place, ...keys), written);
    return keys;
  }

  /** Adds a block of actions after those the state has; gives the place of the block. */
  addBlock(key: "entry" | "exit", block: unknown, written: string): Keys {
    const own = this.#state[key];
    if (own === undefined) {
      this.set(key, block, written);
      return [key];
    }
    const several = Array.isArray(own) && own.length > 0 && own.every(Array.isArray);
    const blocks = several ? own : [listOf(own)];
    this.#state[key] = [...blocks, listOf(block)];
    const ownAt = inside(this.place, key);
    if (!several) this.from([key, 0], ownAt);
    if (!Array.isArray(own)) this.from([key, 0, 0], ownAt);
    this.from([key, blocks.length], written);
    if (Array.isArray(block)) return [key, blocks.length];
    this.from([key, blocks.length, 0], written);
    return [key, blocks.length, 0];
  }

  /** Adds handlers of an event after those the state has; gives the place of each. */
  addHandlers(event: string, given: unknown, written: string): readonly Keys[] {
    const { on } = this.#state;
    if (!Array.isArray(on)) return this.#addEntries("on", event, given, written);
    const handlers = this.#listed(given, { event });
    this.#state.on = [...on, ...handlers];
    return handlers.map((_, index) =>
      this.from(["on", on.length + index], Array.isArray(given) ? inside(written, index) : written),
    );
  }

  /** Adds what happens when the state has lasted for the shorthand's `timeout`: its `onTimeout`. */
  addTimeout({ timeout, onTimeout }: Parts, written: string): void {
    const delayAt = inside(written, "timeout");
    const leadsAt = inside(written, "onTimeout");
    if (timeout === undefined && onTimeout !== undefined)
      this.checker.problem(delayAt, "is missing", "say when onTimeout is taken");
    if (timeout !== undefined && onTimeout === undefined)
      this.checker.problem(leadsAt, "is missing", "say where the timeout leads");
    if (timeout === undefined || onTimeout === undefined) return;
    const isConstant = !isObject(timeout) && typeof timeout !== "function";
    if (isConstant && constantMs(timeout, delayAt, this.checker) === undefined) return;
    const { after } = this.#state;
    if (isConstant && !Array.isArray(after)) this.#addEntries("after", String(timeout), onTimeout, leadsAt);
    else if (isObject(after)) {
      const fix = "write it as a list, each with its delay";
      this.checker.problem(inside(this.place, "after"), "cannot be an object beside a computed timeout", fix);
    } else {
      const before = listOf(after);
      const timed = this.#listed(onTimeout, { delay: timeout });
      this.#state.after = [...before, ...timed];
      timed.forEach((_, index) => {
        const place = ["after", before.length + index];
        this.from(place, Array.isArray(onTimeout) ? inside(leadsAt, index) : leadsAt);
        this.from([...place, "delay"], delayAt);
      });
    }
  }

  /** Transitions as a list has them: each says itself what it is for. */
  #listed(given: unknown, parts: Parts): Parts[] {
    return listOf(given).map((one) => ({ ...parts, ...(isObject(one) ? one : { target: one }) }));
  }

  /** Adds transitions to those that stand under a key of a record. What is no record is left for others to report. */
  #addEntries(part: "on" | "after", key: string, given: unknown, written: string): readonly Keys[] {
    const record = this.#state[part] ?? {};
    if (!isObject(record)) return [];
    const own = Object.hasOwn(record, key) ? record[key] : undefined;
    const items = listOf(given);
    if (own === undefined) {
      this.#state[part] = { ...record, [key]: given };
      const place = this.from([part, key], written);
      return Array.isArray(given) ? items.map((_, index) => [...place, index]) : [place];
    }
    const before = listOf(own);
    this.#state[part] = { ...record, [key]: [...before, ...items] };
    if (!Array.isArray(own)) this.from([part, key, 0], inside(this.place, part, key));
    return items.map((_, index) =>
      this.from([part, key, before.length + index], Array.isArray(given) ? inside(written, index) : written),
    );
  }
}
