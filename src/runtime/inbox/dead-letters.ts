/** Dead letters: events that were accepted and found no run to take them. They wait here until a person decides. */
import type { Event } from "../../core/event.ts";
import { HoldfastError } from "../../errors.ts";
import { decode } from "../../store/codec.ts";
import type { DeadLetterRow, RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { checkName, defaultTenant } from "../name.ts";
import { checkNumber, checkOptions, type Names } from "../options.ts";
import type { Seal } from "../seal.ts";

/** Letters that are read at a time. */
const pageSize = 100;

/** An event nobody took, and why. */
export interface DeadLetter {
  readonly number: number;
  /** The run it was for. */
  readonly run: string;
  readonly event: Event;
  readonly reason: "missing" | "ended";
  readonly at: number;
}

interface Options {
  readonly tenant?: string;
}

interface LetterWorld {
  readonly store: Store;
  readonly seal: Seal;
  /** Throws if the runtime is closed. */
  check(): void;
  /** Something is in the inbox of this run. */
  arrived(name: RunName): void;
}

export class DeadLetters {
  readonly #world: LetterWorld;

  constructor(world: LetterWorld) {
    this.#world = world;
  }

  /** All of a tenant's, in the order they were lost; those after one of them, if its number is given. */
  async *list(options: Options & { readonly after?: number } = {}): AsyncGenerator<DeadLetter> {
    const usage = "deadLetters.list({ tenant, after: number })";
    const tenant = tenantOf(usage, options, { tenant: true, after: true });
    const { after = 0 } = options;
    checkNumber(usage, after);
    for await (const row of this.#rows(tenant, after)) {
      const { number, run, reason, at, bytes } = row;
      const event = decode(this.#world.seal.open(bytes, row), `dead letter ${number}`) as unknown as Event;
      yield { number, run, event, reason, at };
    }
  }

  /** Sends one again, to its run or another. It stays a dead letter unless that run takes it. */
  async redeliver(number: number, options: Options & { readonly to?: string } = {}): Promise<void> {
    const row = await this.#find(number, options);
    const { number: _number, reason: _reason, ...event } = row;
    const { to = row.run } = options;
    checkName("run", to);
    // A key keeps it from being taken twice, should it be sent again before it is removed here. Its own belongs to the run it
    // was for: another one may have had that key for something else.
    const key = to === row.run ? (row.key ?? row.id) : row.id;
    const again = { ...event, key, run: to };
    const [outcome] = await this.#world.store.enqueue([again]);
    if (outcome === "missing" || outcome === "ended") {
      throw new HoldfastError(
        outcome === "missing" ? "RUN_UNKNOWN" : "RUN_ENDED",
        `The dead letter ${number} cannot go to ${JSON.stringify(again.run)}: ${outcome === "missing" ? "there is no such run" : "it has ended"}; name another run with { to }`,
      );
    }
    this.#world.arrived(again);
    await this.#world.store.removeDeadLetter(row.tenant, number);
  }

  /** Forgets one. */
  async discard(number: number, options: Options = {}): Promise<void> {
    const { tenant } = await this.#find(number, options);
    await this.#world.store.removeDeadLetter(tenant, number);
  }

  async #find(number: number, options: Options & { readonly to?: string }): Promise<DeadLetterRow> {
    this.#world.check();
    const usage = "the number of a dead letter, and { tenant, to }";
    checkNumber(usage, number);
    const tenant = tenantOf(usage, options, { tenant: true, to: true });
    const [row] = await this.#world.store.readDeadLetters(tenant, number - 1, 1);
    if (row?.number === number) return row;
    throw new HoldfastError(
      "LETTER_UNKNOWN",
      `There is no dead letter ${number} of the tenant ${JSON.stringify(tenant)}`,
    );
  }

  async *#rows(tenant: string, after: number): AsyncGenerator<DeadLetterRow> {
    for (let last = after; ; ) {
      this.#world.check();
      const rows = await this.#world.store.readDeadLetters(tenant, last, pageSize);
      if (rows.length === 0) return;
      yield* rows;
      last = (rows.at(-1) as DeadLetterRow).number;
    }
  }
}

/** Whose letters are meant; throws OPTIONS_INVALID or NAME_INVALID. */
function tenantOf<Given extends Options>(usage: string, options: Given, names: Names<Given>): string {
  checkOptions(usage, options, names);
  const { tenant = defaultTenant } = options;
  checkName("tenant", tenant);
  return tenant;
}
