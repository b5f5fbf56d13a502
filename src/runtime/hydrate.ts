/** From the store back into memory: a run's newest checkpoint, checked against its chain on the way. */
import { restore } from "../core/restore.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import type { RunHead } from "../store/records.ts";
import type { LoadedRun } from "../store/store.ts";
import type { LiveRun } from "./live-run.ts";
import type { Past } from "./past.ts";
import type { BoundMachine, Registry } from "./registry.ts";

/** The live run, its inbox still empty; throws STORE_CORRUPT if its journal does not lead where its head says. */
export async function hydrate(loaded: LoadedRun, registry: Registry, past: Past): Promise<LiveRun> {
  const { head } = loaded;
  const { state, digest, contents, snapshotBytes, entryBytes } = await past.rebuild(loaded);
  if (digest !== head.digest || !isHeadOf(head, state as Partial<State> | null)) {
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The journal of ${JSON.stringify(head.run)} does not lead to its checkpoint ${head.seq}`,
    );
  }
  const machine = registry.read(head.machine, head.version);
  const known = [...contents].map(([name, text]) => [text, name] as const);
  return {
    name: { tenant: head.tenant, run: head.run },
    machine,
    head: withSharedParts(head, machine),
    state: restore(machine.machine, state) as State,
    inbox: [],
    more: false,
    snapshotBytes,
    entryBytes,
    contents: known.length === 0 ? undefined : new Map(known),
  };
}

const noAttributes = Object.freeze({});

/** What a head has like others of its machine is the same object, and its fields are laid out alike. */
function withSharedParts(head: RunHead, { machine, hash }: BoundMachine): RunHead {
  const { tenant, run, subject, status, version, seq, digest, snapshotSeq, createdAt, updatedAt } = head;
  const shared = {
    tenant,
    run,
    subject: subject === run ? run : subject,
    machine: machine.id,
    version,
    hash: head.hash === hash ? hash : head.hash,
    status,
    seq,
    digest,
    snapshotSeq,
    createdAt,
    updatedAt,
    attributes: Object.keys(head.attributes).length === 0 ? noAttributes : head.attributes,
  };
  return Object.keys(head).length === Object.keys(shared).length ? shared : { ...head, ...shared };
}

/** Whether a head tells of this state; a run that is parked is active as far as its machine knows. */
function isHeadOf({ machine, version, status }: RunHead, state: Partial<State> | null): boolean {
  const told = status === "parked" ? "active" : status;
  return told === state?.status && machine === state.machine && version === state.version;
}
