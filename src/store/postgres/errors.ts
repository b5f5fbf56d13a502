/**
 * From PostgreSQL's SQLSTATE codes to the registry's, decided by code and never by text. What the driver throws without
 * one tells of a connection that was refused, lost or too slow. A code that is not in the tables is a bug of ours and
 * stays as it is.
 */
import { type ErrorCode, HoldfastError } from "../../errors.ts";

interface Known {
  readonly code: ErrorCode;
  /** What happened and what to do, after the store's name. */
  readonly problem: string;
}

const unavailable = (problem: string): Known => ({ code: "STORE_UNAVAILABLE", problem });
const damaged: Known = { code: "STORE_CORRUPT", problem: "is damaged; restore it from a backup" };
const incomplete: Known = {
  code: "STORE_CORRUPT",
  problem: "does not have the tables and functions it should have; restore it from a backup",
};
const unstorable: Known = {
  code: "VALUE_UNSTORABLE",
  problem:
    "cannot keep a name or a value: it has characters that a database does not take, or is too large for an index",
};
const unreachable = unavailable("cannot be reached; check that its server runs and try again");

const readOnly = unavailable("can only be read, as a standby can; connect to the primary server");

const byState: Readonly<Record<string, Known>> = {
  "25006": readOnly,
  "3D000": unavailable("is in a database that does not exist; create it, or give another one"),
  "3F000": incomplete,
  "40001": unavailable("is written by others at the same time; try again"),
  "40P01": unavailable("is written by others at the same time; try again"),
  "42501": unavailable("may not be used by this role; grant it the schema, or the right to create it"),
  "42703": incomplete,
  "42883": incomplete,
  "42P01": incomplete,
  "53100": unavailable(
    "cannot grow: the server's disk is full. Nothing was changed; make room and try again",
  ),
  "53200": unavailable("needs more memory than its server has; free some and try again"),
  "53300": unavailable("has no connection left; raise max_connections, or use fewer"),
  "55P03": unavailable("is locked by others for longer than its server lets us wait; try again"),
  "55000": readOnly,
  "57014": unavailable(
    "took longer than its server or this client allows; try again, or raise statement_timeout",
  ),
  HF001: unavailable(
    "needs transactions that are read committed; set default_transaction_isolation for this role to that",
  ),
  XX001: damaged,
  XX002: damaged,
};

/** By the first two characters, where the rest makes no difference. */
const byClass: Readonly<Record<string, Known>> = {
  "08": unreachable,
  "22": unstorable,
  "28": unavailable("does not let this role in; check the user, the password and pg_hba.conf"),
  "53": unavailable("has run out of something on its server; see its log"),
  "54": unstorable,
  "57": unavailable("was stopped or is starting; try again"),
  "58": unavailable("could not be read or written; check its server's disk, then try again"),
};

/** The HoldfastError for what the driver threw; anything else as it came. */
export function storeError(error: unknown, store: string): unknown {
  if (!(error instanceof Error) || error instanceof HoldfastError) return error;
  // A number beyond what this store writes, or a description of a run that is not JSON.
  if (error instanceof RangeError || error instanceof SyntaxError) return corrupt(store, error);
  const state = stateOf(error);
  const known = state === undefined ? byNature(error) : (byState[state] ?? byClass[state.slice(0, 2)]);
  if (known === undefined) return error;
  // Its own error shows the whole address, the password included.
  if (known === noAddress) return new HoldfastError(known.code, `${store} ${known.problem}`);
  return new HoldfastError(known.code, `${store} ${known.problem}`, {
    cause: error,
    details: { ...(state === undefined ? {} : { state }) },
  });
}

const noAddress = unavailable(
  "has no address that can be read; write postgres://user:password@host:port/database",
);

function byNature(error: Error): Known | undefined {
  if ((error as { code?: unknown }).code === "ERR_INVALID_URL") return noAddress;
  return error instanceof TypeError ? undefined : unreachable;
}

/** Whether the connection went away under a call, so that nobody knows what became of it. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof HoldfastError) return false;
  const state = stateOf(error);
  return state === undefined || /^(08|57P)/.test(state);
}

/** Whether a server refused a statement since it is a standby or can only be read: 25006 what writes, 55000 what reads. */
export function isRefusedByStandby(error: unknown): boolean {
  return error instanceof Error && /^(25006|55000)$/.test(stateOf(error) ?? "");
}

/** Whether the database undid the call since another one was in its way, so that it can be made again. */
export function isUndone(error: unknown): boolean {
  return error instanceof Error && /^40(001|P01)$/.test(stateOf(error) ?? "");
}

/** Whether a row of that key is there already. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && stateOf(error) === "23505";
}

/** Whether a row lacks what it must have. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && stateOf(error) === "23502";
}

/** Whether a prepared statement is not where it should be, or one is where none should be: a pooler gives connections out anew. */
export function isUnprepared(error: unknown): boolean {
  return error instanceof Error && /^(26000|42P05)$/.test(stateOf(error) ?? "");
}

/** What the server calls the error; errors of the driver and of the network have none. */
function stateOf(error: Error): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : undefined;
}

/** The error for rows that cannot have been written by this store. */
export function corrupt(store: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "STORE_CORRUPT",
    `${store} holds rows that do not belong together; restore it from a backup`,
    { cause },
  );
}

/** The error for a store that is used before `open` or after `close`. */
export function notOpen(store: string): HoldfastError {
  return new HoldfastError("STORE_UNAVAILABLE", `${store} is not open; call open() first`);
}
