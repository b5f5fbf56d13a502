/** Holdfast's entry for machines as data: re-exports only. */
export { loadMigration } from "../core/evolve/load-migration.ts";
export { celModel } from "../core/expression/model.ts";
export { definitionSchema } from "../core/formats/json/definition-schema.ts";
export { loadMachine, type ReadDefinition, readDefinition } from "../core/formats/json/read.ts";
export { writeJson, writeYaml } from "../core/formats/json/write.ts";
export {
  end,
  type GraphDefinition,
  type GraphEdge,
  type GraphEvent,
  type GraphNode,
  graph,
} from "../core/graph.ts";
export { type JsonSchema, jsonSchema } from "../core/json-schema/schema.ts";
