/**
 * Hints by LISTEN and NOTIFY. They are sent in transactions of their own, after the commits they are about: whoever commits
 * and notifies in one waits for everybody else who does. A connection that hears is tested before it is relied on, since one
 * behind a pooler may listen and never hear.
 */
import { hash } from "node:crypto";
import { HoldfastError } from "../../errors.ts";
import type { Row } from "../rows.ts";
import type { Heard, Hint, Signals } from "../signals.ts";
import type { PostgresClient } from "./connect.ts";

/** What one notification may carry; PostgreSQL takes a little more. */
const payloadMax = 7_000;
/** With more than so many, one that says "anything" is as good. */
const payloadsMax = 16;
/** How often a connection is asked whether it has heard, a twentieth of a second apart. */
const trialsMax = 20;

export interface SignalWorld {
  ask(query: "notify", values: readonly unknown[]): Promise<readonly Row[]>;
  /** A connection to hear by. */
  connect(): Promise<PostgresClient>;
}

export class PostgresSignals implements Signals {
  readonly #channel: string;
  readonly #world: SignalWorld;

  constructor(schema: string, world: SignalWorld) {
    this.#channel = `holdfast_${hash("sha256", schema, "hex").slice(0, 32)}`;
    this.#world = world;
  }

  async send(names: readonly Hint[], from: number): Promise<void> {
    await this.#notify(payloadsOf(names, from)).catch(() => {});
  }

  async listen(heard: Heard, deaf: () => void): Promise<() => Promise<void>> {
    const client = await this.#world.connect();
    let trial: string | undefined;
    let isOver = false;
    let isHeard = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      client.release(true);
      if (isHeard) deaf();
    };
    client.on?.("notification", ({ payload = "" }) => {
      if (payload === trial) isHeard = true;
      else if (!isOver) tell(heard, payload);
    });
    client.on?.("error", end);
    client.on?.("end", end);
    try {
      await client.query({ text: `LISTEN ${this.#channel}` });
      const { rows } = await client.query({ text: "SELECT gen_random_uuid()::text AS trial" });
      trial = rows[0]?.trial as string;
      await this.#notify([trial]);
      for (let trials = 0; !isHeard && trials < trialsMax; trials++)
        await client.query({ text: "SELECT pg_sleep(0.05)" });
      if (!isHeard) throw unheard();
    } catch (error) {
      end();
      throw error;
    }
    return async () => {
      isHeard = false;
      end();
    };
  }

  async #notify(payloads: readonly string[]): Promise<void> {
    await this.#world.ask("notify", [this.#channel, payloads]);
  }
}

/** For a process that hears nothing, and sends nothing to those that do. */
export const noSignals: Signals = {
  send: async () => {},
  listen: () => Promise.reject(unheard()),
};

/** Who tells it and then the names, in as few pieces as they fit into; no names for anything. */
function payloadsOf(names: readonly Hint[], from: number): readonly string[] {
  const payloads: string[] = [];
  let piece = `${from}`;
  for (const { tenant, run, since } of names) {
    const name = `\n${JSON.stringify(since === undefined ? [tenant, run] : [tenant, run, since])}`;
    if (Buffer.byteLength(piece) + Buffer.byteLength(name) > payloadMax) {
      payloads.push(piece);
      piece = `${from}`;
    }
    piece += name;
  }
  return payloads.length < payloadsMax ? [...payloads, piece] : [`${from}`];
}

/** What cannot be read may be about anything. */
function tell(heard: Heard, payload: string): void {
  try {
    const [from, ...names] = payload.split("\n").map((part) => JSON.parse(part) as unknown);
    const named = (names as [string, string, number?][]).map(([tenant, run, since]) => ({
      ...{ tenant, run },
      ...(since === undefined ? {} : { since }),
    }));
    heard(named.length === 0 ? undefined : named, from as number);
  } catch {
    heard(undefined, undefined);
  }
}

function unheard(): HoldfastError {
  return new HoldfastError(
    "STORE_UNAVAILABLE",
    "A connection to the database does not hear what is sent to it, as behind a pooler: give `listen` a URL of the server itself",
  );
}
