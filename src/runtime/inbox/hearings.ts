/**
 * Hearings: whoever waits to hear what becomes of an event in an inbox. An event is known by its row or, where it has one, its
 * key. Of what is taken in other processes nobody is told here.
 */
import { isHoldfastError } from "../../errors.ts";
import type { InboxRow, RunName } from "../../store/records.ts";
import type { Handled } from "../live/live-run.ts";
import { keyOf } from "../name.ts";
import { untakenError } from "../recovery.ts";
import type { Receipt } from "../run.ts";
import type { Waiting } from "../standing.ts";
import { Waiters } from "../waiters.ts";

/** An event in an inbox. */
export type Place = { readonly row: string } | { readonly key: string };

/** Somebody who will be told what became of an event; `cancel` when nobody wants to know any more. */
export type Registered = ReturnType<Waiters<Handled>["wait"]>;

/** A receipt of which nobody may want to hear any more, so that nothing is left waiting for what never comes. */
export interface Hearing extends Receipt {
  leave?(): void;
}

export class Hearings {
  /** By their run, then by the place of their event. */
  readonly #waiters = new Map<string, Waiters<Handled>>();
  /** Events that somebody waits for now, and how many do: their steps must not wait in turn for a checkpoint that may never come. */
  readonly #asked = new Map<string, number>();
  readonly #hurry: (name: RunName) => void;
  /** Why nobody will be told anything any more. */
  #closed: unknown;

  /** `hurry` commits what a run has taken and not committed yet. */
  constructor(hurry: (name: RunName) => void) {
    this.#hurry = hurry;
  }

  /** From now on what becomes of an event is kept for whoever may ask. */
  wait(name: RunName, place: Place): Registered {
    const run = keyOf(name);
    const waiters = this.#waiters.get(run) ?? new Waiters<Handled>();
    this.#waiters.set(run, waiters);
    const { told, cancel } = waiters.wait(JSON.stringify(place));
    if (this.#closed !== undefined) waiters.close(this.#closed);
    return { told, cancel: () => this.#leave(run, cancel) };
  }

  #leave(run: string, cancel: () => void): void {
    cancel();
    if (this.#waiters.get(run)?.size === 0) this.#waiters.delete(run);
  }

  /** Somebody wants to know now: a step that the event has led to already is committed at once. */
  ask(name: RunName, place: Place, { told, cancel } = this.wait(name, place)): Registered {
    const cease = this.#count(askedId(name, place));
    told.catch(() => {}).finally(cease);
    this.#hurry(name);
    return {
      told,
      cancel: () => {
        cancel();
        cease();
      },
    };
  }

  /** Counts somebody who waits for an event, until what it gives is called. */
  #count(id: string): () => void {
    const asked = this.#asked;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    let isOver = false;
    return () => {
      const left = (asked.get(id) ?? 0) - 1;
      if (isOver) return;
      isOver = true;
      if (left > 0) asked.set(id, left);
      else asked.delete(id);
    };
  }

  isAsked(row: InboxRow): boolean {
    return this.#asked.size > 0 && placesOf(row).some((place) => this.#asked.has(askedId(row, place)));
  }

  tell(row: InboxRow, handled: Handled): void {
    this.#each(row, (waiters, place) => waiters.tell(place, handled));
  }

  /** Nobody here will hear what became of it. */
  refuse(row: InboxRow, error: unknown): void {
    this.#each(row, (waiters, place) => waiters.refuse(place, error));
  }

  #each(row: InboxRow, say: (waiters: Waiters<Handled>, place: string) => void): void {
    const run = keyOf(row);
    const waiters = this.#waiters.get(run);
    if (waiters === undefined) return;
    for (const place of placesOf(row)) say(waiters, JSON.stringify(place));
    if (waiters.size === 0) this.#waiters.delete(run);
  }

  /** A run has ended: nothing will become of what waits in its inbox. */
  ended(name: RunName, error: unknown = untakenError(name)): void {
    this.#waiters.get(keyOf(name))?.close(error);
    this.#waiters.delete(keyOf(name));
  }

  close(error: unknown): void {
    this.#closed = error;
    for (const waiters of this.#waiters.values()) waiters.close(error);
    this.#waiters.clear();
  }
}

const askedId = (name: RunName, place: Place): string => `${keyOf(name)} ${JSON.stringify(place)}`;

function placesOf({ id, key }: InboxRow): readonly Place[] {
  return key === undefined ? [{ row: id }] : [{ row: id }, { key }];
}

/** One that waits once it is asked; `leave` is for one that was not. */
export function hearingOf(wait: () => Registered, leave: () => void = () => {}): Hearing {
  let left = leave;
  return {
    handled() {
      const { told, cancel } = wait();
      left = cancel;
      return told;
    },
    leave: () => left(),
  };
}

/** What became of an event, here or elsewhere. That its run has ended is no answer: others may have taken it before that. */
export async function whicheverKnows(here: Promise<Handled>, elsewhere: Waiting<Handled>): Promise<Handled> {
  const known = here.catch((error: unknown) => {
    if (!isHoldfastError(error) || error.code !== "RUN_ENDED") throw error;
    elsewhere.look();
    return elsewhere.told;
  });
  try {
    return await Promise.race([known, elsewhere.told]);
  } finally {
    elsewhere.cancel();
  }
}
