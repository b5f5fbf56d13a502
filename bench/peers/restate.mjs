/** What the bench needs of Restate, from the packages installed in this folder. */
import { createRequire } from "node:module";

export { createEndpointHandler, service } from "@restatedev/restate-sdk";
export { connect, Opts } from "@restatedev/restate-sdk-clients";

/** The server's program, as its npm package finds it. */
export function restateBinary() {
  const require = createRequire(import.meta.resolve("@restatedev/restate-server/package.json"));
  return require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}
