/** Writes the published JSON Schema of machines from its source; `npm run format` afterwards. A test compares the two. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitionSchema } from "../src/data/index.ts";

const path = join(import.meta.dirname, "..", "schema", "machine.schema.json");
writeFileSync(path, `${JSON.stringify(definitionSchema, null, 2)}\n`);
