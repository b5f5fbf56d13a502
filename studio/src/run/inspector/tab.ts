/** What each side of the inspector is given. */
import type { RunDetail } from "../../data/contract.ts";
import type { Moment } from "../moment.ts";

export interface TabProps {
  readonly moment: Moment;
  readonly detail: RunDetail;
}
