/** A process to be killed: steps runs on PostgreSQL and delivers table changes to them, until somebody ends it. */
import { createRuntime } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { watchLedger } from "./ledger.ts";
import { notebook } from "./world.ts";

const url = process.argv[2] as string;
const runtime = await createRuntime({ store: postgres(url), machines: [notebook] });
await watchLedger(runtime, url);
process.stdout.write("ready\n");
