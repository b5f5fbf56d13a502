/** A way to the server that can be cut at a chosen moment of a chosen call. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Moment = "before" | "after" | (() => Promise<void>);

export interface Passage {
  /** The URL of a database behind it, given its URL on the server. */
  url(direct: string): string;
  /**
   * Cuts the connection of the next call that has this text in it: `before` the server hears of it, `after` the server
   * has answered it, or in between, when a promise made as the server hears of it is kept.
   */
  cut(text: string, when: Moment): void;
  /** How many calls were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

export async function startProxy(socketFolder: string): Promise<Passage> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-proxy-"));
  const open = new Set<Socket>();
  let plan: { readonly text: string; readonly when: Moment } | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(join(socketFolder, ".s.PGSQL.5432"));
    let isCutting = false;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    client.on("data", (data) => {
      if (plan !== undefined && data.includes(plan.text)) {
        const { when } = plan;
        plan = undefined;
        cuts++;
        if (when !== "before") upstream.write(data);
        if (when === "after") isCutting = true;
        else if (when === "before") client.destroy();
        else void when().then(() => client.destroy());
        return;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (isCutting) client.destroy();
      else if (!client.destroyed) client.write(data);
    });
    client.on("end", () => upstream.end());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(join(folder, ".s.PGSQL.5432"), resolve));
  return {
    url: (direct) => direct.replace(encodeURIComponent(socketFolder), encodeURIComponent(folder)),
    cut: (text, when) => {
      plan = { text, when };
    },
    get cuts() {
      return cuts;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
