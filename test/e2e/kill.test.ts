/** The server is killed in the middle of a run and started again: the page comes back, and the run goes on. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { hasBrowser, open, usePages } from "./page.ts";
import { freePort, ServerProcess } from "./process.ts";
import { reached } from "./stage.ts";

describe.skipIf(!hasBrowser)("a server that is killed", () => {
  let server: ServerProcess;
  usePages();
  beforeAll(async () => {
    server = new ServerProcess(await freePort());
    await server.start();
  });
  afterAll(() => server.close());

  test("comes back: the page reconnects by itself, and the run goes on where it was", async () => {
    const { client, url } = server;
    await client.runs.start({ run: "order-1", machine: "order", input: { item: "boots", euros: 40 } });
    await reached(client, "order-1", "preparing.money.charging");
    const page = await open("/runs/order-1", { at: url, allow: /ERR_|Failed to load resource/ });
    await server.kill();
    await page.getByText("Reconnecting…").waitFor();
    await server.start();
    await page.getByText("Live", { exact: true }).waitFor();
    // The payment that was under way is tried again, and the page sees it without being reloaded.
    await page.locator('.box[data-state="delivering"][data-lit="true"]').waitFor();
    await client.runs.send({ run: "order-1", events: [{ type: "delivered", data: {} }] });
    await page.locator('.box[data-state="done"][data-lit="true"]').waitFor();
  });
});
