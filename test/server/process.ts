/** A server in a process of its own, to be killed: `process.ts FILE PORT`. */
import { createRuntime, defineMachine } from "../../src/index.ts";
import { createServer, serve } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";

/** As the counter of the other tests, without what they bring along: a process that begins late is waited for. */
const counter = defineMachine<{ n: number }>({
  id: "counter",
  start: { n: 0 },
  initial: "open",
  states: {
    open: {
      on: {
        add: {
          update: (draft, { event }) => {
            draft.n += Number(event.data);
          },
        },
        end: "closed",
      },
    },
    closed: { type: "final" },
  },
});

const [file, port] = process.argv.slice(2) as [string, string];
const store = sqlite(file);
const runtime = await createRuntime({ store, machines: [counter] });
const server = await createServer({ runtime, store, dev: { token: "a-token-of-the-tests" } });
const served = await serve(server, { port: Number(port) });
process.send?.({ port: served.port });
// A test that fails leaves nobody behind.
process.once("disconnect", () => process.exit(1));
process.once("SIGTERM", async () => {
  await served.close();
  await runtime.close();
  process.exit(0);
});
