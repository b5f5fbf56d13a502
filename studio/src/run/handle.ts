/**
 * The handle of the tide line. It is where it is pulled to at once, whatever the panes have to do. They follow it from
 * moment to moment, each as soon as the one before is there, and to its last place always: a pull over the whole run asks
 * for few of its moments, and of a slow server for fewer.
 */
import { useEffect, useMemo, useRef, useState, useTransition } from "react";
import { isReading } from "../data/at.ts";
import type { Moment } from "./moment.ts";

/** Short enough to look like moving along, long enough to read and draw a moment. */
const paceMs = 50;
/** A moment that takes longer to read is given up for the next. */
const patienceMs = 200;
/** A hand that has not moved for so long has arrived; a key that is held repeats sooner. */
const arrivedMs = 40;
const lookAgainMs = 10;

export interface Handle {
  /** The checkpoint that it is at. */
  readonly at: number;
  readonly pull: (to: number) => void;
  /** So many steps on from where it is, or back. */
  readonly step: (by: number) => void;
}

/**
 * Calls `go` soon after it was asked to: not before the pace allows, nor while busy, unless that takes too long or nobody
 * asks for more, so that what is on its way is of no use.
 */
function followingAt(isBusy: () => boolean, go: () => void): () => void {
  let timer: number | undefined;
  let wentAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  const look = () => {
    timer = undefined;
    const now = performance.now();
    const isEarly = now - wentAt < paceMs || (now - wentAt < patienceMs && isBusy());
    if (isEarly && now - askedAt < arrivedMs) timer = window.setTimeout(look, lookAgainMs);
    else {
      wentAt = now;
      go();
    }
  };
  return () => {
    askedAt = performance.now();
    if (timer === undefined) look();
  };
}

export function useHandle({ run, first, last, at, goTo }: Moment): Handle {
  const [pulled, setPulled] = useState<number | undefined>(undefined);
  const shown = pulled ?? at;
  // Several keys may be pressed before the next drawing; each counts from where the one before went.
  const newest = useRef(shown);
  newest.current = shown;
  const isAhead = useRef(false);
  const [isMoving, startMoving] = useTransition();
  const follow = useMemo(
    () =>
      followingAt(
        () => isReading(run),
        () => {
          isAhead.current = false;
          startMoving(() => goTo(newest.current));
        },
      ),
    [run, goTo],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: once the panes are there, the handle is where they are, and not where they come by.
  useEffect(() => {
    if (!isAhead.current && !isMoving) setPulled(undefined);
  }, [at, isMoving]);
  return useMemo(() => {
    const pull = (to: number) => {
      newest.current = Math.max(first, Math.min(to, last));
      isAhead.current = true;
      setPulled(newest.current);
      follow();
    };
    return { at: shown, pull, step: (by: number) => pull(newest.current + by) };
  }, [shown, first, last, follow]);
}
