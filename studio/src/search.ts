/** What stands in the query of each page, read with care: whatever is not understood is left out. */
import type { RunStatus } from "./data/contract.ts";

type Raw = Record<string, unknown>;
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
const whole = (value: unknown): number | undefined => {
  const number = Number(value);
  return value !== undefined && value !== "" && Number.isInteger(number) && number >= 0 ? number : undefined;
};
const oneOf = <const Choice extends string>(choices: readonly Choice[], value: unknown): Choice | undefined =>
  choices.find((choice) => choice === value);

/** The same without what is undefined, so that links stay short. */
function lean<Shape extends Record<string, unknown>>(
  shape: Shape,
): { [Key in keyof Shape]?: Exclude<Shape[Key], undefined> } {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as never;
}

export const statuses: readonly RunStatus[] = ["active", "parked", "done", "failed", "cancelled"];

export const readListSearch = (raw: Raw) =>
  lean({
    status: oneOf(statuses, raw.status),
    machine: text(raw.machine),
    subject: text(raw.subject),
    waiting: oneOf(["person"], raw.waiting),
    stuck: raw.stuck === true || raw.stuck === "true" ? (true as const) : undefined,
    since: oneOf(["15m", "1h", "1d", "7d"], raw.since),
    attribute: text(raw.attribute),
  });
export type ListSearch = ReturnType<typeof readListSearch>;

export const runTabs = ["state", "step", "effects", "events", "diff"] as const;
export type RunTab = (typeof runTabs)[number];

/** What a run of an agent, a board or a planner can be looked at as, besides its chart. */
export const runViews = ["conversation", "board", "plan"] as const;
export type RunView = (typeof runViews)[number];

export const readRunSearch = (raw: Raw) =>
  lean({
    at: whole(raw.at),
    /** The other checkpoint of a difference. */
    from: whole(raw.from),
    tab: oneOf(runTabs, raw.tab),
    view: oneOf(runViews, raw.view),
    /** A path of the context whose last change is asked for. */
    path: text(raw.path),
  });
export type RunSearch = ReturnType<typeof readRunSearch>;

export const readInboxSearch = (raw: Raw) => lean({ run: text(raw.run), decision: text(raw.decision) });
export const readMachineSearch = (raw: Raw) => lean({ version: whole(raw.version) });
