/** Windows: what a model sees of a thread, counters and summaries. Re-exports only. */
export { type ExtractOptions, extractSummary } from "./extract.ts";
export { addOverlay } from "./overlay.ts";
export type { WindowOptions } from "./piece.ts";
export { compact, planSummary, type SummaryOptions, type SummaryPlan } from "./summary.ts";
export {
  type Calibration,
  type Counter,
  type CounterOptions,
  calibrate,
  calibrated,
  counterFrom,
  estimate,
} from "./tokens.ts";
export { buildWindow, type Window } from "./window.ts";
