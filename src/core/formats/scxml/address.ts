/**
 * SCXML's event processors and the targets they understand. https://www.w3.org/TR/scxml/#SCXMLEventProcessor
 * Used while importing for what the document says outright, and while stepping for what it computes.
 */
import type { Address } from "../../effect.ts";

export const scxmlProcessor = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor";
export const httpProcessor = "http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor";

/** The processor a `<send>` type names: undefined if there is none of that name. */
export function processorOf(type: string | undefined): string | undefined {
  switch (type) {
    case undefined:
    case "scxml":
    case scxmlProcessor:
      return scxmlProcessor;
    case "basichttp":
    case httpProcessor:
      return httpProcessor;
    default:
      return undefined;
  }
}

/** The address a target means to a processor: undefined if that is not one of its targets. */
export function addressOf(target: string | undefined, processor: string): Address | undefined {
  if (processor === httpProcessor) {
    // Without a target there is nowhere to post to. An address that nobody can reach makes that error.communication.
    if (target === undefined) return { url: "" };
    return URL.canParse(target) && /^https?:/.test(target) ? { url: target } : undefined;
  }
  if (target === undefined) return "self";
  if (target === "#_internal") return "internal";
  if (target === "#_parent") return "parent";
  if (target.startsWith(sessionPrefix)) return { run: target.slice(sessionPrefix.length) };
  if (target.startsWith("#_")) return { child: target.slice(2) };
  return undefined;
}

const sessionPrefix = "#_scxml_";

/** The target that reaches a session from anywhere. */
export function sessionTarget(run: string): string {
  return sessionPrefix + run;
}

/** Whether an `<invoke>` type asks for an SCXML session. https://www.w3.org/TR/scxml/#invoke */
export function invokesScxml(type: string | undefined): boolean {
  return type === undefined || /^(scxml|https?:\/\/www\.w3\.org\/TR\/scxml\/?)$/.test(type);
}
