/**
 * Hints by LISTEN and NOTIFY. They are sent in transactions of their own, after the commits they are about: whoever commits
 * and notifies in one waits for everybody else who does. A connection that hears is tested before it is relied on, since one
 * behind a pooler may listen and never hear.
 */
import { hash, randomUUID } from "node:crypto";
import { HoldfastError } from "../../errors.ts";
import type { RunName } from "../records.ts";
import type { Row } from "../rows.ts";
import type { Signals } from "../signals.ts";
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

  send(names: readonly RunName[]): void {
    this.#notify(payloadsOf(names)).catch(() => {});
  }

  async listen(
    heard: (names: readonly RunName[] | undefined) => void,
    deaf: () => void,
  ): Promise<() => Promise<void>> {
    const client = await this.#world.connect();
    const trial = randomUUID();
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
      else if (!isOver) heard(namesOf(payload));
    });
    client.on?.("error", end);
    client.on?.("end", end);
    try {
      await client.query({ text: `LISTEN ${this.#channel}` });
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
  send: () => {},
  listen: () => Promise.reject(unheard()),
};

/** The names in as few pieces as they fit into; empty for anything. */
function payloadsOf(names: readonly RunName[]): readonly string[] {
  const payloads: string[] = [];
  let piece = "";
  for (const { tenant, run } of names) {
    const name = JSON.stringify([tenant, run]);
    if (Buffer.byteLength(piece) + Buffer.byteLength(name) >= payloadMax) {
      payloads.push(piece);
      piece = "";
    }
    piece += `${piece === "" ? "" : "\n"}${name}`;
  }
  return payloads.length < payloadsMax ? [...payloads, piece] : [""];
}

/** What a notification names; undefined for anything, and for what cannot be read. */
function namesOf(payload: string): readonly RunName[] | undefined {
  if (payload === "") return undefined;
  try {
    return payload.split("\n").map((name) => {
      const [tenant, run] = JSON.parse(name) as [string, string];
      return { tenant, run };
    });
  } catch {
    return undefined;
  }
}

function unheard(): HoldfastError {
  return new HoldfastError(
    "STORE_UNAVAILABLE",
    "A connection to the database does not hear what is sent to it, as behind a pooler: give `listen` a URL of the server itself",
  );
}
