/**
 * The error registry: the only place that defines codes. A thrown or returned error always has one of them; nothing
 * ever decides by a message's text. `docs/reference/errors.md` lists the same codes, and a test compares the two.
 */

/** Whether trying again can help: never, later (the environment may recover), or after the caller has mended its input. */
export type Retry = "never" | "later" | "after-fix";

export const errors = {
  AGENT_INVALID: {
    retry: "after-fix",
    meaning: "An agent cannot be made as it is defined; the message says what it lacks.",
  },
  TURN_UNANSWERED: {
    retry: "after-fix",
    meaning: "A turn of an agent ended without an answer: it failed, was stopped, or used up its budget.",
  },
  AGENT_BUSY: {
    retry: "later",
    meaning: "The agent is at work on what was said before, and takes nothing meanwhile; or it is closed.",
  },
  MACHINE_INVALID: {
    retry: "after-fix",
    meaning: "A machine's definition has problems; all of them are listed.",
  },
  STATE_INVALID: { retry: "after-fix", meaning: "A stored state does not fit the machine it is used with." },
  EVENT_INVALID: {
    retry: "after-fix",
    meaning: "What was sent is not an event: it needs a type, and data that is JSON and fits its schema.",
  },
  EVENT_UNKNOWN: { retry: "after-fix", meaning: "The machine has no handler for this event in any state." },
  EVENT_UNHANDLED: {
    retry: "after-fix",
    meaning: "No active state takes this event, and the machine rejects such events.",
  },
  INPUT_INVALID: { retry: "after-fix", meaning: "A run was given an input that does not fit its schema." },
  CONTEXT_INVALID: {
    retry: "after-fix",
    meaning: "The step would have left a context that does not fit its schema, so it was refused.",
  },
  OUTPUT_INVALID: {
    retry: "after-fix",
    meaning: "The run would have ended with an output that does not fit its schema, so the step was refused.",
  },
  ACTIVITY_INVALID: {
    retry: "after-fix",
    meaning: "An activity was given, or gave, what does not fit its schema; it counts as failed.",
  },
  SCHEMA_UNUSABLE: {
    retry: "after-fix",
    meaning: "A schema cannot be asked: it is asynchronous, or throws instead of answering.",
  },
  NOT_JSON: { retry: "after-fix", meaning: "A value is not JSON; the message names the path to it." },
  EXPRESSION_INVALID: {
    retry: "after-fix",
    meaning: "An expression cannot be read, or is ill-typed for the place it stands in.",
  },
  EXPRESSION_FAILED: {
    retry: "after-fix",
    meaning: "An expression has no value here: a field is absent, or a number is out of range.",
  },
  EXPRESSION_TOO_COSTLY: {
    retry: "after-fix",
    meaning: "An expression needs more steps, or gives a larger value, than one may.",
  },
  PATTERN_INVALID: {
    retry: "after-fix",
    meaning: "A regular expression cannot be read, or is larger than one may be.",
  },
  SCHEMA_INVALID: {
    retry: "after-fix",
    meaning: "A JSON Schema has problems; all of them are listed.",
  },
  MIGRATION_INVALID: {
    retry: "after-fix",
    meaning:
      "A migration names what its machines do not have, or is used between others; all problems are listed.",
  },
  RUN_ENDED: { retry: "never", meaning: "The run is done, failed or cancelled and takes no more events." },
  TIMER_EARLY: { retry: "later", meaning: "A timer was fired before it was due." },
  TIME_INVALID: {
    retry: "after-fix",
    meaning: "The time given to a step is not a finite number of milliseconds.",
  },
  DURATION_INVALID: {
    retry: "after-fix",
    meaning: "A delay is neither milliseconds nor text such as 30s or 2 days.",
  },
  INVARIANT_VIOLATED: {
    retry: "after-fix",
    meaning: "The step would have broken an invariant, so it was refused.",
  },
  CONTRACT_VIOLATED: {
    retry: "after-fix",
    meaning: "A require or ensure contract failed, so the step was refused.",
  },
  WRITES_CONTRADICT: { retry: "after-fix", meaning: "Parallel regions wrote different values to one place." },
  STEP_UNBOUNDED: {
    retry: "after-fix",
    meaning: "A step went round in circles; the message shows the loop.",
  },
  SIMULATION_UNBOUNDED: {
    retry: "after-fix",
    meaning: "Simulated runs keep sending to each other and never come to rest.",
  },
  DEFERRED_FULL: { retry: "later", meaning: "The run defers more events than a run may hold." },
  DRAFT_CLOSED: { retry: "after-fix", meaning: "A draft was used after its update had ended." },
  PATCH_INVALID: { retry: "after-fix", meaning: "A patch does not fit the value it is applied to." },
  SANDBOX_UNAVAILABLE: {
    retry: "later",
    meaning: "The sandbox for imported code broke down and is being loaded anew.",
  },
  SCXML_INVALID: { retry: "after-fix", meaning: "An SCXML document cannot be read." },
  MACHINE_UNKNOWN: { retry: "after-fix", meaning: "The runtime has no machine of that name and version." },
  NAME_INVALID: {
    retry: "after-fix",
    meaning: "A run, tenant, subject or key has a name that stores cannot keep.",
  },
  RUN_UNKNOWN: { retry: "after-fix", meaning: "There is no run of that id for this tenant." },
  CHECKPOINT_UNKNOWN: { retry: "after-fix", meaning: "A run has no checkpoint of that number." },
  PATH_INVALID: { retry: "after-fix", meaning: "A text names no place in a context." },
  MIGRATION_REFUSED: {
    retry: "after-fix",
    meaning: "A run cannot go to another version of its machine: something it has would be lost.",
  },
  DEPLOY_REFUSED: { retry: "after-fix", meaning: "Runs that are alive could not go on after a deploy." },
  MACHINE_IN_USE: { retry: "after-fix", meaning: "Runs go by a version that is to be put away." },
  MACHINE_INACTIVE: { retry: "after-fix", meaning: "No run begins with that version of a machine." },
  MACHINE_DEPRECATED: { retry: "after-fix", meaning: "A run began with a version that is to be put away." },
  RUN_DIFFERS: {
    retry: "after-fix",
    meaning: "A run of that id exists already, of another machine or with another input.",
  },
  RUN_LIVE: {
    retry: "later",
    meaning: "A run of that singleton key is live, and a second one was to be refused.",
  },
  FLOW_INVALID: {
    retry: "after-fix",
    meaning: "What was said of slots, a singleton or a debounce cannot be meant.",
  },
  SCHEDULE_INVALID: {
    retry: "after-fix",
    meaning: "A schedule's pattern or time zone cannot be read, names no time, or says not what to do.",
  },
  OPTIONS_INVALID: {
    retry: "after-fix",
    meaning:
      "A call was given options that it cannot use; the message says which, and what to write instead.",
  },
  LIMIT_INVALID: {
    retry: "after-fix",
    meaning: "A run was started with a limit that is none: unknown, or not above zero.",
  },
  RULE_INVALID: {
    retry: "after-fix",
    meaning:
      "A rule, of housekeeping or for table changes, does not say what it is for, or what it says cannot be used.",
  },
  BACKUP_UNUSABLE: {
    retry: "after-fix",
    meaning: "A backup is not there or damaged, or there is something already where it was to be restored.",
  },
  ATTRIBUTE_INVALID: {
    retry: "after-fix",
    meaning: "A value to find runs by is neither text nor a finite number nor true or false.",
  },
  STATE_UNKNOWN: { retry: "after-fix", meaning: "The machine has no state of that path or id." },
  ASK_UNANSWERED: {
    retry: "after-fix",
    meaning: "An event was sent for its reply, and there will be none: it was not taken, or not in time.",
  },
  ACTIVITY_UNKNOWN: { retry: "after-fix", meaning: "The run has no such activity." },
  LETTER_UNKNOWN: { retry: "after-fix", meaning: "There is no dead letter of that number for this tenant." },
  CHANGE_UNKNOWN: { retry: "after-fix", meaning: "There is no failed table change of that number." },
  BOARD_INVALID: {
    retry: "after-fix",
    meaning: "A board's definition has problems; all of them are listed.",
  },
  KEY_UNKNOWN: { retry: "after-fix", meaning: "The board has no key, or knows no lease, of that name." },
  VALUE_INVALID: {
    retry: "after-fix",
    meaning: "A value does not fit the schema of its key on a board, or cannot be merged with what is there.",
  },
  REVIEW_UNKNOWN: { retry: "after-fix", meaning: "No write of that id waits for a review on the board." },
  LEASE_INVALID: {
    retry: "after-fix",
    meaning: "A lease was asked for without a name, twice for one name, or for no time.",
  },
  LEASE_DEADLOCK: {
    retry: "after-fix",
    meaning:
      "Waiting for the lease would close a circle of agents that wait for each other; it is in the details.",
  },
  VOTE_INVALID: {
    retry: "after-fix",
    meaning: "A proposal or a ballot cannot be meant; the message says what is wrong with it.",
  },
  VOTE_UNKNOWN: { retry: "after-fix", meaning: "The board has no proposal of that id, or no longer." },
  BOARD_FULL: {
    retry: "later",
    meaning: "More wait on the board, for leases, reviews or votes, than one may hold.",
  },
  COMMAND_INVALID: {
    retry: "after-fix",
    meaning: "A command was called with what it cannot use: an option, a value or a module.",
  },
  PLAN_INVALID: {
    retry: "after-fix",
    meaning: "A plan has problems, such as tasks that need each other in a circle; all of them are listed.",
  },
  TASK_REFUSED: {
    retry: "after-fix",
    meaning: "A task of a plan is not there, or cannot begin, end or be skipped as it is.",
  },
  CALL_REFUSED: {
    retry: "after-fix",
    meaning: "A tool call is under way already, or is to end and is not under way.",
  },
  PREFERENCE_INVALID: {
    retry: "after-fix",
    meaning: "A profile has no such preference, purpose or context, or a preference cannot have that value.",
  },
  SCOPE_INVALID: {
    retry: "after-fix",
    meaning: "State has no such key in that scope, or it was not said whose scope is meant.",
  },
  FACT_INVALID: {
    retry: "after-fix",
    meaning: "What was to be remembered is no fact: it says nothing, is too long, or its times cannot be.",
  },
  RUNTIME_CLOSED: { retry: "never", meaning: "The runtime was closed, or stopped because its store failed." },
  JOURNAL_PRUNED: {
    retry: "never",
    meaning: "The entry asked for was removed: only what came after a later snapshot is kept of that run.",
  },
  VALUE_TOO_LARGE: { retry: "after-fix", meaning: "A value is larger than a store keeps in one piece." },
  VALUE_UNSTORABLE: {
    retry: "after-fix",
    meaning: "A value has characters or a size that this kind of store cannot keep; nothing was changed.",
  },
  STORE_CORRUPT: {
    retry: "never",
    meaning: "Stored bytes are damaged: they do not decode, or do not match their digest.",
  },
  STORE_FOREIGN: { retry: "after-fix", meaning: "What is there is not a store of Holdfast." },
  STORE_NEWER: { retry: "after-fix", meaning: "The store was written by a newer version of Holdfast." },
  STORE_OWNED: { retry: "later", meaning: "Another process owns the runs of this store." },
  ROLE_UNUSABLE: {
    retry: "after-fix",
    meaning:
      "A role of a database is missing and cannot be made here, or could get round row-level security.",
  },
  STORE_UNSUPPORTED: {
    retry: "never",
    meaning: "This kind of store does not do that; the message says what to use instead.",
  },
  STORE_UNAVAILABLE: { retry: "later", meaning: "The store cannot be reached, is full or failed to write." },
  MESSAGE_INVALID: {
    retry: "after-fix",
    meaning: "A message cannot be kept: its id or time is none, or its parts do not fit its role.",
  },
  MESSAGE_KNOWN: {
    retry: "after-fix",
    meaning: "A thread has a message or a call of that id already, and each has one of its own.",
  },
  MESSAGE_UNKNOWN: { retry: "after-fix", meaning: "A thread has no message of that id or at that position." },
  CALL_UNKNOWN: {
    retry: "after-fix",
    meaning: "A result answers no open call: there was none, it has its result, or it is another tool's.",
  },
  CALLS_OPEN: {
    retry: "after-fix",
    meaning: "A message was to follow calls that have no results yet: give or close those first.",
  },
  OVERLAY_INVALID: {
    retry: "after-fix",
    meaning: "A summary does not stand for whole units of one branch, or says nothing.",
  },
  WINDOW_TOO_SMALL: {
    retry: "after-fix",
    meaning: "What a model must see is larger than its window, even with long results cut.",
  },
  REQUEST_INVALID: {
    retry: "after-fix",
    meaning: "A request does not fit its route; every place is listed.",
  },
  REQUEST_TOO_LARGE: {
    retry: "after-fix",
    meaning: "A request is larger, or nested deeper, than one may be.",
  },
  ROUTE_UNKNOWN: { retry: "after-fix", meaning: "The server has no such route." },
  METHOD_UNSUPPORTED: {
    retry: "after-fix",
    meaning: "The route is there, and is asked with another method.",
  },
  MEDIA_UNSUPPORTED: { retry: "after-fix", meaning: "A request's body is not said to be JSON." },
  KEY_REFUSED: { retry: "after-fix", meaning: "There is no key, or it is unknown, expired or revoked." },
  ORIGIN_REFUSED: { retry: "after-fix", meaning: "A request in dev mode comes from another page or host." },
  NOT_ALLOWED: { retry: "after-fix", meaning: "The principal's role or tenant does not allow that." },
  RATE_EXCEEDED: {
    retry: "later",
    meaning: "A principal, or an address without a good key, asks more often than a server answers.",
  },
  STREAMS_FULL: { retry: "later", meaning: "More streams are open than a server keeps." },
  SERVER_DRAINING: { retry: "later", meaning: "The server is about to stop and takes nothing new." },
  SERVER_UNREADY: {
    retry: "later",
    meaning: "The server takes no requests now; the parts that keep it from that are listed.",
  },
  SERVER_FAILED: { retry: "later", meaning: "The server made a mistake; its log says which." },
  SERVER_UNREACHABLE: { retry: "later", meaning: "No server answers there, or what answers is none." },
  API_KEY_UNKNOWN: { retry: "after-fix", meaning: "There is no such API key of this tenant." },
  DECISION_UNKNOWN: { retry: "after-fix", meaning: "No such decision waits, or it is not decided so." },
  RUN_UNFIT: { retry: "after-fix", meaning: "The run is no agent's, no planner's or no board's." },
} as const satisfies Record<string, { retry: Retry; meaning: string }>;

export type ErrorCode = keyof typeof errors;

/** What errors are over HTTP: by their retry class, and these by their codes. */
const statusByRetry: Readonly<Record<Retry, number>> = { "after-fix": 422, later: 503, never: 409 };
const codesByStatus: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ["REQUEST_INVALID", "NAME_INVALID", "PATH_INVALID"],
  401: ["KEY_REFUSED"],
  403: ["NOT_ALLOWED", "ORIGIN_REFUSED"],
  404: [
    ...(["RUN_UNKNOWN", "MACHINE_UNKNOWN", "CHECKPOINT_UNKNOWN", "ACTIVITY_UNKNOWN"] as const),
    ...(["LETTER_UNKNOWN", "ROUTE_UNKNOWN", "API_KEY_UNKNOWN", "DECISION_UNKNOWN"] as const),
    "MESSAGE_UNKNOWN",
  ],
  405: ["METHOD_UNSUPPORTED"],
  409: ["RUN_DIFFERS", "RUN_LIVE", "MACHINE_IN_USE", "MACHINE_INACTIVE", "DEPLOY_REFUSED", "AGENT_BUSY"],
  410: ["JOURNAL_PRUNED"],
  413: ["REQUEST_TOO_LARGE", "VALUE_TOO_LARGE"],
  415: ["MEDIA_UNSUPPORTED"],
  429: ["RATE_EXCEEDED", "STREAMS_FULL"],
  500: ["SERVER_FAILED", "STORE_CORRUPT", "STORE_FOREIGN", "STORE_NEWER"],
  503: ["RUNTIME_CLOSED"],
};

/** The HTTP status of an error. */
export function statusOf(code: ErrorCode): number {
  const found = Object.entries(codesByStatus).find(([, codes]) => codes.includes(code));
  return found === undefined ? statusByRetry[errors[code].retry] : Number(found[0]);
}

const brand: unique symbol = Symbol.for("holdfast.error") as never;

/** An error of misuse or environment: its message says what happened, to what, and what to do. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get retry(): Retry {
    return errors[this.code].retry;
  }
}

/** Whether a value is a HoldfastError, of this copy of the package or of another one. */
export function isHoldfastError(value: unknown): value is HoldfastError {
  return typeof value === "object" && value !== null && brand in value;
}

/** Whether an error says that the store may answer later. */
export function isUnavailable(error: unknown): boolean {
  return isHoldfastError(error) && error.code === "STORE_UNAVAILABLE";
}

/** Whether an error says that the store cannot keep something it was given, and has changed nothing. */
export function isUnstorable(error: unknown): boolean {
  return isHoldfastError(error) && error.code === "VALUE_UNSTORABLE";
}

/** The error of whoever asks a runtime that was closed. */
export function closedError(): HoldfastError {
  return new HoldfastError("RUNTIME_CLOSED", "The runtime was closed; create another one");
}
