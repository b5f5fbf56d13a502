/** The native data model: context is plain JSON, expressions are functions or constants, updates are recipes. */
import { HoldfastError } from "../errors.ts";
import type { DataModel, ModelScope } from "./data-model.ts";
import { produce } from "./draft.ts";
import { freezeDeep, type Json, type JsonObject, toJson } from "./json.ts";

type Handler = (scope: ModelScope) => unknown;
type Start = (scope: { input: Json | undefined; at: number }) => unknown;
type Recipe = (draft: never, scope: ModelScope) => unknown;

export const plainModel: DataModel = {
  name: "plain",
  start(source) {
    if (typeof source === "function") return ({ at }, input) => contextOf((source as Start)({ input, at }));
    const context = contextOf(source ?? {});
    return () => context;
  },
  value(source) {
    if (typeof source === "function") return source as Handler;
    return () => source;
  },
  condition: (source) => source as (scope: ModelScope) => boolean,
  update: (source) => (scope) => produce(scope.context, source as Recipe, scope),
  action: (_, path) => foreign(path),
  location: (_, path) => foreign(path),
  declare: (_, path) => foreign(path),
};

function contextOf(value: unknown): JsonObject {
  const context = freezeDeep(toJson(value, [], "context"));
  if (typeof context !== "object" || context === null || Array.isArray(context)) {
    throw new HoldfastError("NOT_JSON", "The first context must be an object; return one from `start`");
  }
  return context as JsonObject;
}

function foreign(path: string): never {
  throw new HoldfastError(
    "MACHINE_INVALID",
    `${path} is of another data model; give the definition that \`model\``,
  );
}
