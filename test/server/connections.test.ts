/** Connections of a server: as many as it may have, and not one more. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { serve } from "../../src/server/index.ts";
import { openHouse } from "./house.ts";

/** Asks over a connection that stays; the status, or nothing if it was closed instead. */
async function ask(socket: Socket): Promise<string> {
  let told = "";
  socket.on("data", (data) => {
    told += String(data);
  });
  socket.on("error", () => {});
  socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await Promise.race([once(socket, "data"), once(socket, "close")]);
  return told.split("\r\n")[0] as string;
}

test("F5: a server has as many connections as it may, closes one more, and takes another when one has gone", async () => {
  const { server } = await openHouse();
  const served = await serve(server, { connections: 2 });
  const open = () => connect({ host: "127.0.0.1", port: served.port });
  const [first, second] = [open(), open()];
  expect([await ask(first), await ask(second)]).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  expect(await ask(open())).toBe("");
  const gone = once(first, "close");
  first.destroy();
  await gone;
  await expect.poll(() => ask(open())).toBe("HTTP/1.1 200 OK");
  expect(await ask(second)).toContain("HTTP/1.1 200 OK");
  await served.close(100);
});
