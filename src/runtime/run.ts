/** What users hold: a runtime, its runs, and the receipts of what they sent. */
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { EventShape } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import type { State } from "../core/state.ts";
import type { Entry } from "../store/journal.ts";
import type { Attribute, RunHead } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Ids } from "./ids.ts";
import type { Handled } from "./live-run.ts";
import type { MachineEntry } from "./registry.ts";
import type { Seal } from "./seal.ts";

export interface RuntimeOptions {
  readonly store: Store;
  readonly machines: readonly MachineEntry[];
  readonly seal?: Seal;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Told of what runs log and emit, once it is durable. */
  readonly onLog?: (log: LogEffect & { readonly run: string }) => void;
  readonly onEmit?: (emitted: EmitEffect & { readonly run: string }) => void;
}

export interface StartOptions {
  readonly id?: string;
  readonly tenant?: string;
  /** Whose data the run holds; the run's own id unless given. */
  readonly subject?: string;
  readonly input?: Json;
  /** Values to find the run by. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

/** Proof that an event is durable. */
export interface Receipt {
  /** What became of it. */
  handled(): Promise<Handled>;
}

/** A run, as its users hold it. */
export interface Run<Context = JsonObject> {
  readonly id: string;
  readonly tenant: string;
  /** Its state at the newest checkpoint. */
  state(): Promise<State<Context>>;
  head(): Promise<RunHead>;
  /** Sends an event; resolves when it is durable. A repeated key is the same event. */
  send(type: string, data?: Json, options?: { readonly key?: string }): Promise<Receipt>;
  /** Resolves once a state is active. */
  waitFor(path: string): Promise<State<Context>>;
  /** Resolves when the run has ended. */
  finished(): Promise<{ readonly state: string; readonly output: Json | undefined }>;
  cancel(): Promise<void>;
  /** Its steps, in order. */
  journal(from?: number): AsyncIterable<Entry>;
}

export interface Runtime {
  /** Starts a run, or attaches to the one of the same id, machine and input. Resolves when its first step is durable. */
  start<Context, Ev extends EventShape, Input>(
    machine: Machine<Context, Ev, Input>,
    options?: StartOptions,
  ): Promise<Run<Context>>;
  /** An existing run; throws RUN_UNKNOWN. */
  run(id: string, options?: { readonly tenant?: string }): Promise<Run>;
  close(): Promise<void>;
}
