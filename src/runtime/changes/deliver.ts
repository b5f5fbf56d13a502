/** From a change to an event that is durable, or a run that has begun. */
import { describeError } from "../../core/describe-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import { isHoldfastError } from "../../errors.ts";
import { defaultTenant } from "../name.ts";
import type { Run, Runtime } from "../run.ts";
import type { Change, ChangeRule, SendRule, StartRule } from "./rule.ts";

/** What changes are given to. */
export type Receiver = Pick<Runtime, "run" | "start">;

/** Why a change was not delivered: it never will be as it is, or the receiver cannot take any now. */
export type Undelivered =
  | { readonly outcome: "failed"; readonly reason: JsonObject; readonly error: unknown }
  | { readonly outcome: "later"; readonly error: unknown };
export type Delivered = { readonly outcome: "delivered" } | Undelivered;

/** A change on its way: to which run it goes, and how. */
export interface Parcel {
  readonly change: Change;
  /** Those of one place are delivered one after the other. */
  readonly place: string;
  deliver(receiver: Receiver): Promise<Delivered>;
}

/** Finds out where a change goes; what a rule's functions throw is the reason why it failed. */
export function addressed(change: Change, rule: ChangeRule): Parcel {
  try {
    const { id, tenant, hand } =
      rule.send === undefined ? starting(change, rule.start) : sending(change, rule.send);
    const deliver = (receiver: Receiver) => hand(receiver).then(() => delivered, undelivered);
    return { change, place: JSON.stringify([tenant, id]), deliver };
  } catch (error) {
    const failed = failure(error);
    return { change, place: change.key, deliver: async () => failed };
  }
}

const delivered: Delivered = { outcome: "delivered" };

interface Address {
  readonly id: string;
  readonly tenant: string;
  hand(receiver: Receiver): Promise<unknown>;
}

function sending(change: Change, { run, type, data, tenant: tenantOf }: SendRule): Address {
  const id = run(change);
  const tenant = tenantOf?.(change) ?? defaultTenant;
  const given = data === undefined ? told(change) : (data(change) as Json | undefined);
  const hand = async (receiver: Receiver) => {
    const found: Run = await receiver.run(id, { tenant });
    await found.send(type, given, { key: change.key });
  };
  return { id, tenant, hand };
}

function starting(change: Change, rule: StartRule): Address {
  const id = rule.id?.(change) ?? change.key;
  const tenant = rule.tenant?.(change) ?? defaultTenant;
  const subject = rule.subject?.(change);
  const input = rule.input === undefined ? told(change) : (rule.input(change) as Json | undefined);
  const given = {
    id,
    tenant,
    ...(input !== undefined && { input }),
    ...(subject !== undefined && { subject }),
  };
  return { id, tenant, hand: (receiver) => receiver.start(rule.machine as Machine, given) };
}

/** What is said of a change where its rule says nothing. */
function told({ table, operation, old, new: after }: Change): JsonObject {
  return { table, operation, old, new: after };
}

/** A receiver that is closed, or whose store cannot be reached, will take it some day; everything else is for a person. */
function undelivered(error: unknown): Undelivered {
  const isLater = isHoldfastError(error) && (error.retry === "later" || error.code === "RUNTIME_CLOSED");
  return isLater ? { outcome: "later", error } : failure(error);
}

function failure(error: unknown): Undelivered {
  return { outcome: "failed", reason: describeError(error), error };
}
