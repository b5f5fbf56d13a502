/**
 * The shape of a machine as data, as a JSON Schema. It is what the loader checks and what `schema/machine.schema.json`
 * publishes, so that an editor completes and refuses what the loader would. What a key means is in its description.
 */
import type { JsonObject } from "../../json.ts";
import { actionParts } from "./action-schema.ts";
import { itemPart, shorthandParts } from "./shorthand-schema.ts";

const ref = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });
const described = (description: string, schema: JsonObject): JsonObject => ({ description, ...schema });
/** A reference with a description of its own. */
const see = (name: string, description: string): JsonObject => ({ description, ...ref(name) });
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
});
const mapOf = (schema: JsonObject, description: string): JsonObject => ({
  description,
  type: "object",
  additionalProperties: schema,
});
const text = (description: string): JsonObject => ({ description, type: "string", minLength: 1 });

/** What a transition has, wherever it stands. */
const transitionParts: JsonObject = {
  target: see("targets", "Where to go: a sibling, an ancestor's sibling, .child, a path of keys, or #id."),
  guard: see("guard", "Taken only if this holds."),
  update: see("update", "The fields of the context to set."),
  actions: see("actions", "What to do besides, after the update."),
  reenter: described("Leave and enter the state again even if the target lies inside it.", {
    type: "boolean",
  }),
  require: see("contracts", "Must hold before the transition's work, or the step is refused."),
  ensure: see("contracts", "Must hold after the transition's work; `old` is the context before it."),
  description: text("For people."),
  meta: described("For whoever reads the definition; a step does not know it.", {}),
};

const resume = described("What an outage does to the timer.", { enum: ["deadline", "remaining", "restart"] });
const oneOrMany = (name: string): JsonObject => ({ anyOf: [ref(name), { type: "array", items: ref(name) }] });

const invokeParts: JsonObject = {
  id: described("Its name; the state's path unless given.", ref("textExpression")),
  input: see("template", "What it is given."),
  onDone: see("transitions", "Taken when it is done; `event.data` is its output."),
  onError: see("transitions", "Taken when it failed; `event.data` is the error."),
  onUnknown: see("transitions", "Taken when nobody can know whether it happened."),
  finalize: see("actions", "Run on every event it sends, before any transition is chosen."),
  item: itemPart({ object, described }),
};

/** A limit, and who shares it. */
const limitParts: JsonObject = {
  limit: described("How many.", { type: "integer", minimum: 1 }),
  key: described(
    "Shared by whoever names it; this activity of this machine unless given.",
    ref("textExpression"),
  ),
  scope: described("Shared within the tenant unless given, or by all.", { enum: ["tenant", "all"] }),
};

/** How an activity is run. */
const activityOptions: JsonObject = {
  compensate: described("The activity that undoes it.", {
    anyOf: [
      { type: "string", minLength: 1 },
      object({ activity: { type: "string", minLength: 1 }, input: ref("template") }, ["activity"]),
    ],
  }),
  retry: described("How often and when to try again.", { type: "object", additionalProperties: true }),
  timeout: see("duration", "How long one attempt may take."),
  heartbeat: see("duration", "How often it must give a sign of life."),
  once: described("At most once; then onUnknown or reconcile says what to do when nobody can know.", {
    type: "boolean",
  }),
  reconcile: text("The activity that finds out what became of it."),
  rate: described(
    "How many may begin within a period.",
    object({ ...limitParts, per: ref("duration") }, ["limit", "per"]),
  ),
  priority: described("What goes first when several wait: higher first, 0 unless given.", {
    anyOf: [{ type: "number" }, ref("expression")],
  }),
};
const concurrency = described("How many at a time.", object(limitParts, ["limit"]));

const stateParts: JsonObject = {
  id: text("A name for #id targets, unique in the machine."),
  type: described("Needed for these three only.", { enum: ["parallel", "final", "history"] }),
  initial: described("The state inside that is entered first.", {
    anyOf: [ref("targets"), ref("initialParts")],
  }),
  states: mapOf(ref("state"), "The states inside, by key."),
  on: described("Transitions by event: an exact key, `prefix.*`, or `*`; or a list of them in order.", {
    anyOf: [
      { type: "object", additionalProperties: ref("transitions") },
      { type: "array", items: ref("handler") },
    ],
  }),
  always: see("transitions", "Taken without an event, as soon as the guard holds."),
  after: described("Transitions after a delay: by delay, or as a list with `delay`.", {
    anyOf: [
      { type: "object", additionalProperties: ref("timedTransitions") },
      { type: "array", items: ref("delayed") },
    ],
  }),
  entry: see("blocks", "What to do on entering."),
  exit: see("blocks", "What to do on leaving."),
  invoke: described("Activities and child machines that run while the state is active.", oneOrMany("invoke")),
  onDone: see("transitions", "Taken when the states inside are done."),
  defer: described("Events to keep for later while nothing takes them.", ref("names")),
  output: see("template", "Of a final state: what the run, or onDone, gets."),
  history: described("Of a history state: how deep it remembers.", { enum: ["shallow", "deep"] }),
  target: see("targets", "Of a history state: where to go while there is nothing to remember."),
  update: see("update", "Of a history state: on that way."),
  actions: see("actions", "Of a history state: on that way."),
  writes: described("Of a parallel state: which of contradictory writes stands, for all or by path.", {
    anyOf: [ref("writePolicy"), { type: "object", additionalProperties: ref("writePolicy") }],
  }),
  invariants: see("contracts", "Must hold at the end of every step while the state is active."),
  require: see("contracts", "Must hold before the state is entered."),
  ensure: see("contracts", "Must hold after the state was left."),
  ...shorthandParts({
    ...{ ref, object, described, transitionParts },
    options: { input: see("template", "What it is given; the item unless given."), ...activityOptions },
  }),
  tags: described("Words to find the state by.", ref("names")),
  description: text("For people."),
  meta: described("For whoever reads the definition; a step does not know it.", {}),
};

const policies = { enum: ["ignore", "defer", "reject"] };

const machineParts: JsonObject = {
  $schema: text("The address of this schema, for editors."),
  ...stateParts,
  id: text("The machine's name."),
  version: described("Its version; 1 unless given.", { type: "integer" }),
  type: described("Whether the top is parallel.", { enum: ["parallel"] }),
  context: see("schema", "The JSON Schema of the context."),
  input: see("schema", "The JSON Schema of what a run is started with."),
  events: mapOf(ref("schema"), "The events the machine knows, each with the JSON Schema of its data."),
  activities: mapOf(
    ref("activity"),
    "The activities it uses, each with the JSON Schemas of its input and output.",
  ),
  start: see("template", "The first context; expressions in it may use `input`."),
  priorities: mapOf(
    { type: "number" },
    "Which event goes first when several wait: higher first, 0 unless given.",
  ),
  unhandled: described("What becomes of an event that no active state takes.", {
    anyOf: [policies, object({ known: policies, unknown: policies })],
  }),
  matching: described("How event keys are read.", { enum: ["exact", "scxml"] }),
  limits: described(
    "Bounds of a run: one that is met ends it as failed.",
    object({
      steps: { type: "number", exclusiveMinimum: 0 },
      time: { type: ["number", "string"] },
      tokens: { type: "number", exclusiveMinimum: 0 },
      cost: { type: "number", exclusiveMinimum: 0 },
    }),
  ),
  checkpoint: described("When steps must be durable.", {
    anyOf: [{ enum: ["step", "manual"] }, object({ every: { type: "integer", minimum: 1 } }, ["every"])],
  }),
  guards: mapOf(ref("guard"), "Guards to use by name."),
  updates: mapOf(ref("update"), "Updates to use by name."),
};

const parts: JsonObject = {
  state: described("A state; an empty one is fine.", object(stateParts)),
  names: { type: "array", items: { type: "string" } },
  schema: described(
    "A JSON Schema. Objects have no other fields than it names unless additionalProperties says so.",
    {
      type: ["object", "boolean"],
      additionalProperties: true,
    },
  ),
  activity: object({
    input: ref("schema"),
    output: ref("schema"),
    description: text("For people, and for models that are to use it."),
  }),
  writePolicy: { enum: ["reject", "last", "first"] },
  targets: { anyOf: [{ type: "string" }, ref("names")] },
  expression: described(
    "An expression in CEL. It may use context, event, at (milliseconds since 1970), in `ensure` also old.",
    object({ cel: { type: "string", minLength: 1, maxLength: 8_192 } }, ["cel"]),
  ),
  template: described('Any JSON. An object { cel: "…" } anywhere in it is an expression.', {}),
  textExpression: { anyOf: [{ type: "string" }, ref("expression")] },
  durationExpression: described("Milliseconds, or text such as 30s or 2 days.", {
    anyOf: [{ type: "number", minimum: 0 }, { type: "string" }, ref("expression")],
  }),
  guard: {
    anyOf: [
      described("A guard by its name.", { type: "string" }),
      ref("expression"),
      described("Whether a state is active.", object({ in: { type: "string" } }, ["in"])),
      object({ and: { type: "array", items: ref("guard") } }, ["and"]),
      object({ or: { type: "array", items: ref("guard") } }, ["or"]),
      object({ not: ref("guard") }, ["not"]),
      described(
        "A guard by its name, with parameters.",
        object({ type: { type: "string" }, params: ref("template") }, ["type"]),
      ),
      described("Whether the event tells of one of these errors, by name or code.", {
        ...object({ error: { type: "array", items: { type: ["string", "number"] } } }, ["error"]),
      }),
      object({ item: itemPart({ object, described }) }, ["item"]),
    ],
  },
  contracts: mapOf(ref("guard"), "Conditions by name; the name is in the error."),
  update: {
    anyOf: [
      described("An update by its name.", { type: "string" }),
      described("Fields of the context, or ways to them with dots, and what to set them to.", {
        type: "object",
        additionalProperties: ref("template"),
      }),
    ],
  },
  transition: { anyOf: [described("A target.", { type: "string" }), object(transitionParts)] },
  transitions: oneOrMany("transition"),
  handler: object({ event: ref("targets"), ...transitionParts }, ["event"]),
  timedTransition: { anyOf: [{ type: "string" }, object({ resume, ...transitionParts })] },
  timedTransitions: oneOrMany("timedTransition"),
  delayed: object({ delay: ref("durationExpression"), resume, ...transitionParts }, ["delay"]),
  initialParts: object({ target: ref("targets"), update: ref("update"), actions: ref("actions") }, [
    "target",
  ]),
  invoke: {
    anyOf: [
      object(
        {
          activity: described("The activity, by name.", ref("textExpression")),
          ...invokeParts,
          ...activityOptions,
          concurrency,
        },
        ["activity"],
      ),
      object(
        {
          machine: described("The child machine, by name.", ref("textExpression")),
          ...invokeParts,
          autoforward: { type: "boolean" },
        },
        ["machine"],
      ),
    ],
  },
  duration: { type: ["number", "string"] },
  ...actionParts({ ref, object, described, resume }),
};

/** The JSON Schema of a machine as data. */
export const definitionSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A Holdfast machine",
  description: "A statechart as data: safe to accept from anyone, checked before it runs.",
  ...object(machineParts, ["id", "states"]),
  $defs: parts,
};
