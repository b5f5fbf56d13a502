/** The way of one worker to its server, which can be slow, cut, or cut at a chosen call. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** Whether the server hears of the call at which the connection is cut, and who does not hear of the answer. */
export type Moment = "before" | "after";

export class Network {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #delayMs = 0;
  #isCut = false;
  #plan: { readonly text: string; readonly when: Moment } | undefined;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  /** A way to the server at this port of the loopback. */
  static async to(target: number): Promise<Network> {
    const network = new Network(target);
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    return network;
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `postgres://holdfast@127.0.0.1:${port}/postgres`;
  }

  /** Everything takes so much longer, in each direction. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  /** Nothing comes through, and connections are lost. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts the connection of the next call that has this text in it. */
  cutAt(text: string, when: Moment): void {
    this.#plan = { text, when };
  }

  /** All is well again. */
  mend(): void {
    this.#delayMs = 0;
    this.#isCut = false;
    this.#plan = undefined;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #pass(client: Socket): void {
    if (this.#isCut) return void client.destroy();
    const server = connect(this.#target, "127.0.0.1");
    let isCutting = false;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data) => {
      const plan = this.#plan;
      if (plan !== undefined && data.includes(plan.text)) {
        this.#plan = undefined;
        if (plan.when === "before") return void client.destroy();
        isCutting = true;
      }
      this.#send(server, data);
    });
    server.on("data", (data) => {
      if (isCutting) client.destroy();
      else this.#send(client, data);
    });
  }

  #send(socket: Socket, data: Buffer): void {
    if (this.#delayMs === 0) socket.write(data);
    else setTimeout(() => socket.destroyed || socket.write(data), this.#delayMs);
  }
}
