/** Boards: the shared state of several agents. */
export { type Board, type BoardDefinition, defineBoard, type KeyDefinitions } from "./board.ts";
export type { Change } from "./follow.ts";
export type { KeyDefinition, Merge, Policy, ValueOf } from "./keys.ts";
export {
  type ChangeOf,
  type LeaseOptions,
  OpenBoard,
  type OpenOptions,
  openBoard,
  type ProposeOptions,
  type ReviewDecision,
  type SubscribeOptions,
  type UpdateOptions,
  type WriteOptions,
} from "./open.ts";
export type * from "./outcome.ts";
export type { Ballot, BoardState, PendingReview, Proposal, TieRule, VoteRule } from "./state.ts";
export type { Decision, Tally } from "./tally.ts";
