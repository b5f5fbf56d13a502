/**
 * The sources an imported SCXML document hands to its data model: JSON, told apart by `scxml`, each with the place it
 * stands at. This is the whole contract between the importer and a data model; neither knows more of the other.
 */
import type { Json } from "../../json.ts";

/** The element a source belongs to, for the data of error events. */
export type Origin = { readonly tag: string; readonly line: number; readonly column: number };

/** A value: text of the data model's language, or something known already. */
export type ValueSource =
  | { readonly scxml: "expression"; readonly text: string; readonly at: Origin }
  | { readonly scxml: "constant"; readonly value: Json }
  | { readonly scxml: "xml"; readonly text: string }
  | FaultSource;

/** Something that cannot be evaluated, found while importing. SCXML wants the error when it is reached, not before. */
export type FaultSource = { readonly scxml: "fault"; readonly reason: string; readonly at: Origin };

/** An object made of `<param>` elements and a namelist. Values of a repeated name become a list. */
export type ParamsSource = {
  readonly scxml: "params";
  readonly params: readonly { readonly name: string; readonly value: ValueSource }[];
  /** Whether a failing value is left out with an error event; otherwise all of it fails. */
  readonly lenient: boolean;
};

/** Milliseconds, from text such as `1.5s`. */
export type DelaySource = { readonly scxml: "delay"; readonly value: ValueSource; readonly at: Origin };

/** Where a `<send>` goes: an address, from its target and type. Both absent means the session itself. */
export type AddressSource = {
  readonly scxml: "address";
  readonly target?: ValueSource;
  readonly type?: ValueSource;
  readonly at: Origin;
};

/** How a `<send>` travels: the processor's type, or nothing for SCXML's own. */
export type ProcessorSource = {
  readonly scxml: "processor";
  readonly type: ValueSource;
  readonly at: Origin;
};

/** What an `<invoke>` starts: the name of a machine, which may be a document's address or its text. */
export type MachineSource = {
  readonly scxml: "machine";
  readonly name: ValueSource;
  readonly type?: ValueSource;
  readonly at: Origin;
};

/** A place in the data to write to. */
export type LocationSource = { readonly scxml: "location"; readonly text: string; readonly at: Origin };

export type ActionSource =
  | {
      readonly scxml: "assign";
      readonly location: LocationSource;
      readonly value: ValueSource;
      readonly at: Origin;
    }
  | { readonly scxml: "script"; readonly text: string; readonly at: Origin }
  | {
      readonly scxml: "foreach";
      readonly array: ValueSource;
      readonly item: string;
      readonly index?: string;
      readonly actions: Json;
      readonly at: Origin;
    }
  /** An empty `<finalize>`: the event's data goes back to where the invocation's parameters came from. */
  | {
      readonly scxml: "adopt";
      readonly pairs: readonly { readonly name: string; readonly location: LocationSource }[];
      readonly at: Origin;
    };

/** One `<data>` element. */
export type DataItem = { readonly id: string; readonly value?: ValueSource; readonly at: Origin };

/** The document's data and scripts: what the context of a new run is made from. */
export type StartSource = {
  readonly scxml: "start";
  /** The document's name, `_name` in expressions. */
  readonly name: string;
  /** Every variable of the document, bound or not. */
  readonly declared: readonly string[];
  /** The items that get their values at the start; `input` may replace those marked so. */
  readonly data: readonly (DataItem & { readonly replaceable: boolean })[];
  readonly scripts: readonly { readonly text: string; readonly at: Origin }[];
};

/** Data of a state that is bound when the state is first entered. */
export type BindSource = { readonly scxml: "bind"; readonly data: readonly DataItem[] };

export type ScxmlSource =
  | ValueSource
  | ParamsSource
  | DelaySource
  | AddressSource
  | ProcessorSource
  | MachineSource
  | LocationSource
  | ActionSource
  | StartSource
  | BindSource;

/** Whether a value is a source the importer made. */
export function isScxmlSource(value: unknown): value is ScxmlSource {
  return (
    typeof value === "object" && value !== null && typeof (value as { scxml?: unknown }).scxml === "string"
  );
}
