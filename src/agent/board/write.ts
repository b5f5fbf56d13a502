/**
 * Writing to a board. Pure: each function changes the state it is given and gives the answer, or throws before it has changed
 * anything.
 *
 * V1. A change has the next number of the board as its version, so one that was seen never comes back.
 * V2. A write that names a version takes effect at that version, or is handed back, put to review or merged; never lost.
 * V3. A fence that is not the token of a lease in force, held by whoever writes, lets nothing through.
 * V4. A review takes a write for what stood there when it came, and never over what was written since. Nobody takes a write of
 *     their own.
 */
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Key } from "./keys.ts";
import type { Asker, BoardState, PendingReview, Standing } from "./state.ts";

/** What is asked of a key; a version of 0 means that nothing stands there. */
export interface Aim {
  readonly key: string;
  readonly ifVersion?: number;
  readonly fence?: number;
}

export interface WriteAsked extends Aim {
  readonly value: Json;
}

export interface ReviewAsked {
  readonly id: string;
  readonly decision: "accept" | "reject" | "replace";
  readonly value?: Json;
}

/**
 * The version of a write whose value was made of what stood at another: it is not merged with anything else. A number below 0, since
 * what a question has is part of the definition by which boards are stored.
 */
export const madeOf = (version: number): number => -1 - version;

type Answer = { readonly [field: string]: Json };

/** Writes a value. `before` is the same state, as it was: own merges are given parts of it. */
export function write(
  board: BoardState,
  key: Key,
  { value, ifVersion: named, fence }: WriteAsked,
  { by, at }: Asker,
  before: BoardState,
): Answer {
  const fenced = refuseFence(board, key, fence, by);
  if (fenced !== undefined) return fenced;
  const yours = key.check(value);
  const isMade = named !== undefined && named < 0;
  const ifVersion = isMade ? madeOf(named) : named;
  const standing = before.entries[key.name];
  const { version = 0 } = standing ?? {};
  const isForThis = ifVersion === version || (ifVersion === undefined && version === 0);
  if (isForThis || (key.policy === "last-write" && ifVersion === undefined))
    return put(board, key.name, { value: yours, by, at });
  if (key.merge !== undefined && standing !== undefined && !isMade)
    return put(board, key.name, { value: key.check(key.merge(standing.value, yours)), by, at });
  if (key.policy === "review") {
    const id = review(board, {
      ...{ key: key.name, value: yours, by, at, ifVersion: ifVersion ?? 0, stood: version },
      ...(fence === undefined ? {} : { fence }),
    });
    return { outcome: "in review", id };
  }
  return { ...conflict(standing), yours };
}

/** Removes what stands under a key. */
export function remove(
  board: BoardState,
  key: Key,
  { ifVersion, fence }: Aim,
  { by }: Pick<Asker, "by">,
): Answer {
  const fenced = refuseFence(board, key, fence, by);
  if (fenced !== undefined) return fenced;
  const standing = board.entries[key.name];
  const { version = 0 } = standing ?? {};
  const isOpen = key.policy === "last-write" || key.policy === "merge";
  if (ifVersion === undefined ? !isOpen && version > 0 : ifVersion !== version) return conflict(standing);
  if (standing === undefined) return { outcome: "removed", version: board.version };
  delete board.entries[key.name];
  board.version++;
  return { outcome: "removed", version: board.version };
}

/** Decides on a write that waits for it. What is handed back, fenced or refused waits on. */
export function decide(
  board: BoardState,
  asked: ReviewAsked,
  keyOf: (name: string) => Key,
  { by, at }: Asker,
): Answer {
  const { id, decision, value } = asked;
  const index = board.reviews.findIndex((one) => one.id === id);
  const pending = board.reviews[index];
  if (pending === undefined) {
    throw new HoldfastError(
      "REVIEW_UNKNOWN",
      `No write ${JSON.stringify(id)} waits for a review; it may have been decided on`,
    );
  }
  const isAccepted = decision === "accept";
  const made = isAccepted
    ? pending.value
    : decision === "replace"
      ? keyOf(pending.key).check(value as Json)
      : null;
  if (decision !== "reject") {
    const refused = refuseDecision(board, keyOf(pending.key), pending, { ...asked, by });
    if (refused !== undefined) return refused.outcome === "conflict" ? { ...refused, yours: made } : refused;
  }
  board.reviews.splice(index, 1);
  if (decision === "reject") return { outcome: "rejected" };
  return put(board, pending.key, { value: made, by: isAccepted ? pending.by : by, at });
}

/** Why a review cannot put a value where a write wanted one (V3, V4); undefined if it can. */
function refuseDecision(
  board: BoardState,
  key: Key,
  pending: PendingReview,
  { decision, by }: ReviewAsked & Pick<Asker, "by">,
): Answer | undefined {
  if (pending.by === by) return { outcome: "refused", why: `${by} wrote it, and somebody else decides` };
  const isHeld = board.grants.some((one) => one.by === by && one.names.includes(key.lease ?? ""));
  const fence = key.lease === undefined && decision === "replace" ? undefined : pending.fence;
  const fenced = isHeld ? undefined : refuseFence(board, key, fence, pending.by);
  if (fenced !== undefined) return fenced;
  const standing = board.entries[key.name];
  const { version = 0, at = 0 } = standing ?? {};
  const isAsItWas = pending.stood === undefined ? at <= pending.at : pending.stood === version;
  // Whoever gives another value has thought of what stands there.
  return isAsItWas || decision === "replace" ? undefined : conflict(standing);
}

function put(board: BoardState, key: string, made: Omit<Standing, "version">): Answer {
  board.version++;
  const { version } = board;
  board.entries[key] = { ...made, version };
  return { outcome: "written", version, value: made.value };
}

function conflict(standing: Standing | undefined): Answer {
  if (standing === undefined) return { outcome: "conflict", version: 0 };
  const { value, version, by, at } = standing;
  return { outcome: "conflict", current: value, version, by, at };
}

function review(board: BoardState, pending: Omit<BoardState["reviews"][number], "id">): string {
  if (board.reviews.length >= limits.boardReviewsMax) {
    const full = `${limits.boardReviewsMax} writes wait for a review already; decide on some of them first`;
    throw new HoldfastError("BOARD_FULL", full);
  }
  const id = `review-${++board.count}`;
  board.reviews.push({ id, ...pending });
  return id;
}

/** Why a write is not let through (V3); undefined if it is. */
function refuseFence(
  board: BoardState,
  { name, lease }: Key,
  fence: number | undefined,
  by: string,
): Answer | undefined {
  const grant = fence === undefined ? undefined : board.grants.find(({ token }) => token === fence);
  if (fence !== undefined && grant === undefined)
    return { outcome: "fenced", why: `the lease of token ${fence} is over` };
  if (grant !== undefined && grant.by !== by)
    return { outcome: "fenced", why: `the lease of token ${fence} is held by ${grant.by}` };
  if (lease === undefined || grant?.names.includes(lease)) return undefined;
  return { outcome: "fenced", why: `${name} is written with the token of the lease ${lease}` };
}
