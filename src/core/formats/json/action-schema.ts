/** The shape of actions as data, as parts of the JSON Schema of a definition. */
import type { JsonObject } from "../../json.ts";
import { mapAction } from "./shorthand-schema.ts";

interface Words {
  readonly ref: (name: string) => JsonObject;
  readonly object: (properties: JsonObject, required?: readonly string[]) => JsonObject;
  readonly described: (description: string, schema: JsonObject) => JsonObject;
  readonly resume: JsonObject;
}

export function actionParts({ ref, object, described, resume }: Words): JsonObject {
  const event = (description: string): JsonObject =>
    described(description, {
      anyOf: [
        { type: "string", minLength: 1 },
        object({ type: ref("textExpression"), data: ref("template") }, ["type"]),
      ],
    });
  const address = described("To whom: self, internal, parent, or a child, a run or an address.", {
    anyOf: [
      { enum: ["self", "internal", "parent"] },
      ...["child", "run", "url"].map((key) => object({ [key]: ref("textExpression") }, [key])),
      ref("expression"),
    ],
  });
  const send = object({
    type: ref("textExpression"),
    data: ref("template"),
    to: address,
    delay: ref("durationExpression"),
    resume,
    id: described("A name to cancel it by.", ref("textExpression")),
    via: ref("textExpression"),
  });
  const spawn = object(
    { machine: ref("textExpression"), id: ref("textExpression"), input: ref("template") },
    ["machine"],
  );
  const branch = object({ guard: ref("guard"), actions: ref("actions") });
  const kinds: JsonObject[] = [
    object({ update: ref("update") }, ["update"]),
    object({ map: mapAction({ ref, object, described }) }, ["map"]),
    object({ raise: event("An event to the run itself, within the step.") }, ["raise"]),
    object({ send: described("An event to send.", { anyOf: [{ type: "string", minLength: 1 }, send] }) }, [
      "send",
    ]),
    object({ cancel: described("The id of sends to cancel.", ref("textExpression")) }, ["cancel"]),
    object({ emit: event("An event for whoever watches the run.") }, ["emit"]),
    object({ log: ref("template"), label: { type: "string" } }, ["log"]),
    object({ spawn: described("A child run to start.", { anyOf: [{ type: "string" }, spawn] }) }, ["spawn"]),
    object({ reply: ref("template"), to: ref("textExpression") }, ["reply"]),
    object(
      { compensate: described("Undo all activities that are done, the last one first.", { const: true }) },
      ["compensate"],
    ),
    object({ stop: described("The id of a child to stop.", ref("textExpression")) }, ["stop"]),
    object({ choose: described("The first branch whose guard holds.", { type: "array", items: branch }) }, [
      "choose",
    ]),
  ];
  return {
    action: { anyOf: kinds },
    actions: { anyOf: [ref("action"), { type: "array", items: ref("action") }] },
    blocks: described("Actions; a list of lists is several blocks, and an error stops only its own.", {
      anyOf: [ref("actions"), { type: "array", items: { type: "array", items: ref("action") } }],
    }),
  };
}
