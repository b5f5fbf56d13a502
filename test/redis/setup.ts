/** Sees to a Redis server before the tests; where none can be had, says in the end what was not run. */
import { findRedis, howToInstall, installRedis } from "./server.ts";

export default function setup(): () => void {
  installRedis();
  const isMissing = findRedis() === undefined;
  if (isMissing && process.env.CI === "true") throw new Error(howToInstall);
  return () => {
    if (isMissing) console.error(`Not run: the tests of Redis. ${howToInstall}`);
  };
}
