/**
 * A primary and the standby that follows it, and what whoever looks after them does: see to it that the standby is in
 * step, promote it when the primary is gone, and make the old primary follow the new one. It does what Patroni does in
 * synchronous mode: commits wait for the standby while there is one that is in step, and only such a one is promoted.
 */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Node, type Settings, signal } from "./cluster.ts";

export interface PairOptions {
  /** Where the servers may be. */
  readonly folder: string;
  /** Whether commits wait for the standby; true, unless given. */
  readonly isSynchronous?: boolean;
}

export class Pair {
  primary: Node;
  standby: Node;
  readonly #isSynchronous: boolean;

  private constructor(primary: Node, standby: Node, isSynchronous: boolean) {
    this.primary = primary;
    this.standby = standby;
    this.#isSynchronous = isSynchronous;
  }

  /** Two servers in step. */
  static async start({ folder, isSynchronous = true }: PairOptions): Promise<Pair> {
    mkdirSync(folder, { recursive: true });
    // The servers may run as somebody else.
    chmodSync(folder, 0o755);
    const [first, second] = [await Node.in(join(folder, "a")), await Node.in(join(folder, "b"))];
    const pair = new Pair(first, second, isSynchronous);
    await first.create();
    first.configure({});
    try {
      await first.start();
      await pair.attach();
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  /** The address of both, with the one that is the standby first as often as not. */
  get url(): string {
    const [one, other] = [this.primary, this.standby].sort((left, right) => left.port - right.port);
    return `postgres://holdfast@${one?.address},${other?.address}/postgres`;
  }

  /** Makes the standby anew from the primary; from its return on whatever the primary acknowledges is on both. */
  async attach(): Promise<void> {
    await this.standby.copy(this.primary);
    this.standby.follow(this.primary);
    await this.standby.start();
    const follows = "application_name = 'standby' AND state = 'streaming'";
    await this.primary.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE ${follows}`);
    if (!this.#isSynchronous) return;
    await this.#configure(this.primary, { synchronous_standby_names: "standby" });
    await this.primary.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
    // What was acknowledged alone lies before this, and this returns once the standby has it.
    await this.primary.query("SELECT pg_logical_emit_message(true, 'pair', 'in step')");
  }

  async #configure(node: Node, settings: Settings): Promise<void> {
    node.configure(settings);
    await node.query("SELECT pg_reload_conf()");
  }

  /** The standby hears nothing for so long, as on a slow network; then the primary is killed, and what is on its way is lost. */
  async killPrimary(deafMs: number): Promise<void> {
    if (deafMs === 0) return this.primary.kill();
    const [row] = await this.standby.query("SELECT pid FROM pg_stat_wal_receiver");
    const receiver = row?.pid as number;
    signal(receiver, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, deafMs));
    await this.primary.kill();
    // It is told to end before it can look at what has arrived.
    signal(receiver, "SIGTERM");
    signal(receiver, "SIGCONT");
  }

  /** The standby becomes the primary; resolves when it can be written. */
  async promote(): Promise<void> {
    [this.primary, this.standby] = [this.standby, this.primary];
    await this.primary.query("SELECT pg_promote(true, 60)");
  }

  async stop(): Promise<void> {
    await Promise.all([this.primary.stop(), this.standby.stop()]);
  }
}
