/** A deed: what the platform is asked to do when the time has come, be it to start a run or to send an event. */
import type { Json } from "../../core/json.ts";
import type { Attribute } from "../../store/records.ts";
import type { LimitSource } from "../budget.ts";

/** As it is kept: plain JSON, and one of the two. */
export interface Deed {
  readonly start?: {
    readonly machine: string;
    readonly input?: Json;
    readonly subject?: string;
    readonly attributes?: Readonly<Record<string, Attribute>>;
    readonly limits?: LimitSource;
  };
  readonly send?: { readonly run: string; readonly type: string; readonly data?: Json };
}
