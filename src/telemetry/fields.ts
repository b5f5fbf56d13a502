/** What is told of a run and of a step, under the same names in logs and in traces. */
import type { Observed } from "../runtime/observer.ts";
import type { RunHead } from "../store/records.ts";

/** Which run it is. */
export const placeOf = ({ tenant, run, machine, version }: RunHead) => ({ tenant, run, machine, version });

/** What a step did. Payloads stay in the journal: they may be anybody's data. */
export const stepOf = ({ seq, event, outcome, configuration }: Observed["steps"][number]) => ({
  ...{ seq, event: event.type, outcome, configuration },
  ...(event.by !== undefined && { by: event.by }),
});
