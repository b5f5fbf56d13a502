/** The workers of a machine as processes: how many there are, who goes first, and what becomes of one that ends by itself. */
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Crew } from "./crew.ts";

let crew: Crew;
let noted: (line: string) => void = () => {};

afterEach(async () => {
  crew.dismissNow();
  await crew.dismissAll();
});

/** A crew whose workers run this code. */
function crewOf(code: string, env: Record<string, string | undefined> = {}): Crew {
  crew = new Crew({
    command: ["-e", code],
    env: { ...process.env, ...env },
    note: (line) => noted(line),
  });
  return crew;
}

/** Stays until it is told to go. */
const staying = "setInterval(() => {}, 1_000)";

test("there are as many as are wanted, and the youngest go first", async () => {
  crewOf(staying);
  crew.keep(2);
  const [oldest, youngest] = crew.pids;
  crew.keep(3);
  expect([crew.count, crew.pids.slice(0, 2)]).toEqual([3, [oldest, youngest]]);
  crew.keep(1);
  expect(crew.count).toBe(1);
  await expect.poll(() => crew.pids).toEqual([oldest]);
  crew.keep(2);
  expect(crew.count, "one that was told to leave is no failure, after which they rest").toBe(2);
});

test("one that ends by itself is followed by another, and not at once", async () => {
  crewOf("process.exit(3)");
  crew.keep(1);
  const [first] = crew.pids;
  /** How many there are if one is wanted as soon as the first has ended. */
  const atOnce = new Promise<number>((resolve) => {
    noted = (line) => {
      if (line !== `worker ${first} ended (3)`) return;
      queueMicrotask(() => {
        crew.keep(1);
        resolve(crew.count);
      });
    };
  });
  expect(await atOnce).toBe(0);
  noted = () => {};
  await expect
    .poll(() => {
      crew.keep(1);
      return crew.count;
    })
    .toBe(1);
});

test("those who are dismissed are waited for, and are given what the fleet was", async () => {
  const heard = createServer();
  await once(heard.listen(0, "127.0.0.1"), "listening");
  const { port } = heard.address() as { port: number };
  const code = `const socket = require("node:net").connect(Number(process.env.PORT), "127.0.0.1");
    process.on("SIGTERM", () => socket.end("drained", () => process.exit()));`;
  crewOf(code, { PORT: String(port) });
  crew.keep(1);
  const [socket] = await once(heard, "connection");
  const said: string[] = [];
  socket.on("data", (text: Buffer) => said.push(text.toString()));
  await crew.dismissAll();
  expect(crew.pids).toEqual([]);
  await expect.poll(() => said).toEqual(["drained"]);
  heard.close();
});
