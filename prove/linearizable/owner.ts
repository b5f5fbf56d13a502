/**
 * The process that owns the runtime and is killed: `owner.ts LANE SOCKET SEED` does what clients ask of it over a socket. The way
 * to it and back takes a moment, as over a network: so an operation is often done and its answer still on the way.
 */
import { rmSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createRuntime, type Runtime } from "holdfast";
import { createRandom } from "../../test/generate/random.ts";
import { byLine } from "../kill/ledger.ts";
import { type Asked, leavesDoubt, performOn, type Told } from "./access.ts";
import { machines } from "./cell.ts";
import { type Lane, storeOf } from "./lane.ts";
import { awaitBeginning } from "./process.ts";

/** How long a message is on its way at most. */
const latencyMsMax = 6;

const [lane = "", path = "", seed = "1"] = process.argv.slice(2);
const random = createRandom(Number(seed));
const onTheWay = () => new Promise((resolve) => setTimeout(resolve, random.next() * latencyMsMax));

async function serve(runtime: Runtime, socket: Socket, { number, ...request }: Asked): Promise<void> {
  await onTheWay();
  let told: Told;
  try {
    told = { number, answer: await performOn(runtime, request) };
  } catch (error) {
    if (!leavesDoubt(error)) throw error;
    told = { number, lost: true };
  }
  await onTheWay();
  socket.write(`${JSON.stringify(told)}\n`);
}

await awaitBeginning();
const runtime = await createRuntime({
  store: storeOf(JSON.parse(lane) as Lane),
  machines: Object.values(machines),
});
rmSync(path, { force: true });
createServer((socket) => {
  socket.on("error", () => {});
  const hear = byLine((line) => void serve(runtime, socket, JSON.parse(line) as Asked));
  socket.setEncoding("utf8").on("data", hear);
}).listen(path, () => writeSync(1, "at work\n"));
