/** The shape of shorthand as data, and of what only shorthand is written out as, as parts of the JSON Schema of a definition. */
import type { JsonObject } from "../../json.ts";

interface Words {
  readonly ref: (name: string) => JsonObject;
  readonly object: (properties: JsonObject, required?: readonly string[]) => JsonObject;
  readonly described: (description: string, schema: JsonObject) => JsonObject;
  readonly transitionParts: JsonObject;
  /** Options of an activity that an item of a map has as well. */
  readonly options: JsonObject;
}

const name = (description: string): JsonObject => ({ description, type: "string", minLength: 1 });
const count = (description: string): JsonObject => ({ description, type: "integer", minimum: 1 });
const share: JsonObject = {
  description: "How many items may fail: a number, or a share such as 20%.",
  anyOf: [{ type: "integer", minimum: 0 }, { type: "string" }],
};

/** The keys that a state may have as shorthand. */
export function shorthandParts({ ref, object, described, transitionParts, options }: Words): JsonObject {
  const catcher = {
    anyOf: [
      { type: "string", minLength: 1 },
      object({
        errors: described("Names or codes of errors; without them, any error.", {
          type: "array",
          items: { type: ["string", "number"] },
        }),
        ...transitionParts,
      }),
    ],
  };
  const attempt = object(
    {
      invoke: ref("invoke"),
      catch: described("Where errors lead: the first that names it takes it, the last names none.", {
        anyOf: [catcher, { type: "array", items: catcher }],
      }),
      timeout: described("For all attempts together.", ref("durationExpression")),
      onTimeout: ref("timedTransitions"),
      finally: described("Done when the state is left, whichever way.", ref("actions")),
    },
    ["invoke", "catch"],
  );
  const map = object(
    {
      over: described(
        "The list, an expression that gives it, or the field of the context that holds it.",
        ref("template"),
      ),
      as: name("The item's name in event.data of the input; item unless given."),
      activity: name("The activity for each item."),
      machine: described("Or the child machine for each item.", ref("textExpression")),
      ...options,
      concurrency: count("How many at a time; 1 unless given."),
      tolerate: share,
      collect: collected,
      onDone: ref("transitions"),
      onError: ref("transitions"),
    },
    ["over", "onDone", "onError"],
  );
  const approval = object(
    {
      ask: described("What tells whoever decides: an invocation, or actions.", {
        anyOf: [ref("invoke"), ref("actions")],
      }),
      approve: name("The event that says yes; approve unless given."),
      reject: name("The event that says no; reject unless given."),
      by: described("Who may decide.", ref("guard")),
      timeout: described("How long to wait.", ref("durationExpression")),
      onApproved: ref("transitions"),
      onRejected: ref("transitions"),
      onTimeout: ref("timedTransitions"),
    },
    ["onApproved", "onRejected"],
  );
  return {
    attempt: described("An invocation, and where its errors lead by their names.", attempt),
    map: described("An activity or a machine for every item of a list, a few at a time.", map),
    approval: described("Waits for somebody to say yes or no.", approval),
  };
}

const collected: JsonObject = {
  description: "The fields of the context that get the results and the failures.",
  anyOf: [
    { type: "string", minLength: 1 },
    {
      type: "object",
      additionalProperties: false,
      properties: { results: { type: "string" }, failures: { type: "string" } },
    },
  ],
};

/** The item of a worker, which shorthand is written out with. */
export function itemPart({ object, described }: Pick<Words, "object" | "described">): JsonObject {
  const parts = { of: { type: "string" }, worker: { type: "integer" }, as: { type: "string" } };
  return described("The item that a worker of a map has.", object(parts, ["of", "worker"]));
}

/** What workers of a map do, which shorthand is written out with. */
export function mapAction({
  ref,
  object,
  described,
}: Pick<Words, "ref" | "object" | "described">): JsonObject {
  const of = { type: "string", minLength: 1 };
  return described("Begins a list, settles an item or ends the list; the map shorthand writes it.", {
    anyOf: [
      object(
        {
          begin: of,
          over: ref("template"),
          workers: { type: "integer" },
          tolerate: share,
          collect: collected,
        },
        ["begin", "over", "workers"],
      ),
      object({ settle: of, worker: { type: "integer" } }, ["settle", "worker"]),
      object({ end: of }, ["end"]),
    ],
  });
}
