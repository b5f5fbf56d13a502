/** The system variables of a session, as SCXML shows them. https://www.w3.org/TR/scxml/#SystemVariables */
import type { ModelScope } from "../core/data-model.ts";
import type { Event } from "../core/event.ts";
import { scxmlProcessor, sessionTarget } from "../core/formats/scxml/address.ts";
import type { JsonObject } from "../core/json.ts";

/**
 * `_sessionid`, `_name`, `_ioprocessors` and `_x`. The caller's environment is `_x`, and its `ioprocessors` are listed
 * beside SCXML's own, each under its name with its `location`.
 */
export function systemVariables(scope: ModelScope, name: string): JsonObject {
  const own = { location: sessionTarget(scope.run) };
  return {
    _sessionid: scope.run,
    _name: name,
    _ioprocessors: { ...(scope.environment.ioprocessors as JsonObject), scxml: own, [scxmlProcessor]: own },
    _x: scope.environment,
  };
}

/** The fields of `_event`; undefined before the first event. */
export function eventFields(event: Event, run: string): JsonObject | undefined {
  if (event.kind === "platform" && event.type === "start") return undefined;
  const { origin, originType } = originOf(event, run);
  const fields = {
    name: event.type,
    type: event.kind ?? "external",
    sendid: event.sendId,
    origin,
    origintype: originType,
    invokeid: event.invokeId,
    data: event.data,
    raw: event.raw,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Events of runs came by SCXML's own processor, and so did the run's own delayed sends; others say how they came. */
function originOf(event: Event, run: string): Pick<Event, "origin" | "originType"> {
  const { kind, timer, originType } = event;
  if (originType !== undefined && originType !== scxmlProcessor) return event;
  const from = event.origin ?? (timer !== undefined && kind === undefined ? run : undefined);
  return from === undefined ? {} : { origin: sessionTarget(from), originType: scxmlProcessor };
}
