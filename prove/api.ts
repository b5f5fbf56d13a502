/** `npm run prove:api`: the server's routes under requests drawn from its own OpenAPI document. */
import { plants } from "./api/plants.ts";
import { proveApi } from "./api/proof.ts";
import { number, oneOf, readFlags } from "./flags.ts";

const { seed, requests, plant } = readFlags(
  "api",
  `Requests drawn from the server's own OpenAPI document, good ones and hostile ones, with good, weak, foreign, expired and
wrong keys, over two tenants. No answer may be a mistake of the server, break its schema, show anything of the other tenant
or of the server's inside; and what is refused changes nothing.`,
  {
    seed: number("where chance begins", 1, { least: 1 }),
    requests: number("how many", 10_000, { least: 1 }),
    plant: oneOf(
      "puts a weakness of prove/api/plants.ts in, and passes if it is found",
      plants.map(({ name }) => name),
      undefined,
    ),
  },
);
const passed = await proveApi({
  ...{ seed, requests, ...(plant !== undefined && { plant }) },
  print: (line) => console.log(line),
  progress: (done) => process.stderr.write(`\r${done} requests`),
});
process.exitCode = passed ? 0 : 1;
