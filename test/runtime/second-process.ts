/** Another process on a store: it opens the file it is given, says so, and stays until it is killed. */
import { createRuntime } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";

await createRuntime({ store: sqlite(process.argv[2] as string), machines: [] });
process.stdout.write("open\n");
