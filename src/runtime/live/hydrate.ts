/** From the store back into memory: a run's newest checkpoint, checked against its chain on the way. */
import { revive } from "../../core/restore.ts";
import type { State } from "../../core/state.ts";
import { HoldfastError } from "../../errors.ts";
import type { RunHead, RunName } from "../../store/records.ts";
import type { LoadedRun } from "../../store/store.ts";
import type { BoundMachine, Registry } from "../registry.ts";
import type { LiveRun } from "./live-run.ts";
import { isCorrupt, type Past, type Rebuilt } from "./past.ts";

/**
 * The live run, its inbox still empty. Where its snapshot is damaged the whole journal is read instead, and `problem` is
 * told; throws STORE_CORRUPT if that does not lead where its head says either.
 */
export async function hydrate(
  loaded: LoadedRun,
  registry: Registry,
  past: Past,
  problem: (name: RunName, error: unknown) => void,
): Promise<LiveRun> {
  const { head } = loaded;
  let rebuilt: Rebuilt;
  try {
    rebuilt = checked(head, await past.rebuild(loaded));
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    rebuilt = checked(head, await past.refold(head));
    problem(head, error);
  }
  const { state, contents, snapshotBytes, entryBytes, keptBytes } = rebuilt;
  const machine = registry.read(head.machine, head.version);
  const known = [...contents].map(([name, text]) => [text, name] as const);
  return {
    name: { tenant: head.tenant, run: head.run },
    machine,
    head: withSharedParts(head, machine),
    state: revive(machine.machine, state) as State,
    inbox: [],
    more: false,
    snapshotBytes,
    entryBytes,
    keptBytes,
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

function checked(head: RunHead, rebuilt: Rebuilt): Rebuilt {
  if (rebuilt.digest === head.digest && isHeadOf(head, rebuilt.state as Partial<State> | null))
    return rebuilt;
  throw new HoldfastError(
    "STORE_CORRUPT",
    `The journal of ${JSON.stringify(head.run)} does not lead to its checkpoint ${head.seq}`,
  );
}

/** Whether a head tells of this state; a run that is parked is active as far as its machine knows. */
function isHeadOf({ machine, version, status }: RunHead, state: Partial<State> | null): boolean {
  const told = status === "parked" ? "active" : status;
  return told === state?.status && machine === state.machine && version === state.version;
}
