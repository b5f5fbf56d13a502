/**
 * `npm run prove:api`: requests drawn from the server's own OpenAPI document, good ones and hostile ones, with good, weak,
 * foreign, expired and wrong keys, over two tenants. No answer may be a mistake of the server, break its schema, show
 * anything of the other tenant or of the server's inside; and what is refused changes nothing. `--requests N` says how many,
 * `--seed N` where chance begins, `--plant NAME` puts a weakness of `api/plants.ts` in, and passes if it is found.
 */
import { parseArgs } from "node:util";
import { proveApi } from "./api/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    requests: { type: "string", default: "10000" },
    plant: { type: "string" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a whole number above 0, and is ${JSON.stringify(text)}`);
}

const passed = await proveApi({
  seed: numberOf("seed", values.seed),
  requests: numberOf("requests", values.requests),
  ...(values.plant === undefined ? {} : { plant: values.plant }),
  print: (line) => console.log(line),
  progress: (done) => process.stderr.write(`\r${done} requests`),
});
process.exitCode = passed ? 0 : 1;
