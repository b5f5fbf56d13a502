/**
 * A process of clients, each of which does one operation after the other: `client.ts PLAN`. What it is about to do it says before
 * it does it, and what it was answered as soon as it is: so what is cut off by its death is known to be unknown. Times are
 * those of the machine's steady clock, which all processes share.
 */
import { writeSync } from "node:fs";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { type Access, LostError, OwnCells, RemoteCells, type Request } from "./access.ts";
import { type Answer, type Kind, kinds, type Operation } from "./cell.ts";
import type { Lane } from "./lane.ts";
import { awaitBeginning } from "./process.ts";

export interface ClientPlan {
  readonly seed: number;
  /** How many clients it is, and the number of the first of them: no two ever have the same. */
  readonly clients: number;
  readonly first: number;
  /** Where the owner is; without one it has a runtime of its own on the lane. */
  readonly socket?: string;
  readonly lane: Lane;
  /** How long a round is, and how many there are. It is told when the first one began, by the steady clock in nanoseconds. */
  readonly roundMs: number;
  readonly rounds: number;
  /** Instead of all that: these cells are read once more. */
  readonly audit?: readonly string[];
}

/** A line that is said: an operation that begins, or its answer. */
export type Said =
  | {
      readonly id: string;
      readonly client: string;
      readonly run: string;
      readonly operation: Operation;
      readonly from: number;
      /** It is repeated until it is answered, by whoever comes after this client if need be. */
      readonly insists: boolean;
    }
  | { readonly id: string; readonly until: number; readonly answer: Answer };

/** What a client begins with: when the first round began, and what others insisted on and did not live to hear. */
export interface Beginning {
  readonly since: number;
  readonly repeats: readonly Repeat[];
}
export type Repeat = Pick<Request, "run" | "operation"> & { readonly id: string };

const kindOf = (run: string): Kind => run.split(" ")[0] as Kind;

const now = (): number => Number(process.hrtime.bigint());
const say = (line: Said) => writeSync(1, `${JSON.stringify(line)}\n`);

/** One client. */
class Client {
  readonly #name: string;
  readonly #number: number;
  readonly #access: Access;
  readonly #random: Random;
  #count = 0;

  constructor({ seed }: ClientPlan, number: number, access: Access) {
    this.#name = `c${number}`;
    this.#number = number;
    this.#access = access;
    this.#random = createRandom(seed * 1_000 + number);
  }

  async work({ roundMs, rounds }: ClientPlan, since: number): Promise<void> {
    for (;;) {
      const round = Math.floor((now() - since) / 1e6 / roundMs);
      if (round >= rounds) return;
      const kind = this.#random.pick(Object.keys(kinds) as Kind[]);
      await this.perform(`${kind} ${round}`, this.#draw(kind));
    }
  }

  /** Does one operation. Of those that are lost some are done again, under their key, until there is an answer. */
  async perform(run: string, operation: Operation): Promise<void> {
    const id = `${this.#name} ${++this.#count}`;
    const insists = operation.kind !== "look" && this.#random.chance(0.6);
    const isKeyed = insists || (operation.kind !== "look" && this.#random.chance(0.5));
    say({ id, client: this.#name, run, operation, from: now(), insists });
    const request = { run, kind: kindOf(run), operation, ...(isKeyed ? { key: id } : {}) };
    while (!(await this.#try(id, request)) && insists);
  }

  /** Does what somebody else insisted on. */
  async repeat({ id, run, operation }: Repeat): Promise<void> {
    while (!(await this.#try(id, { run, kind: kindOf(run), operation, key: id })));
  }

  /** Whether there was an answer. */
  async #try(id: string, request: Request): Promise<boolean> {
    try {
      const answer = await this.#access.perform(request);
      say({ id, until: now(), answer });
      return true;
    } catch (error) {
      if (error instanceof LostError) return false;
      throw error;
    }
  }

  #draw(kind: Kind): Operation {
    const random = this.#random;
    const drawn = random.pick(kinds[kind]);
    // Half of what is done changes something.
    const type = random.chance(0.4) ? kinds[kind][0] : drawn;
    if (type === "cas") return { kind: "cas", from: random.below(3), to: random.below(3) };
    if (type === "add") return { kind: "add", value: random.between(1, 3) };
    if (type !== "write") return { kind: type };
    // What is written into a register nobody else writes, so that a value says where it is from.
    const value = kind === "lock" ? random.below(3) : (this.#number + 1) * 1_000_000 + this.#count;
    return { kind: "write", value };
  }
}

const plan = JSON.parse(process.argv[2] ?? "") as ClientPlan;
const { socket, first, audit } = plan;
const { since, repeats } = JSON.parse(await awaitBeginning()) as Beginning;
const shared = socket === undefined ? new OwnCells(plan.lane) : undefined;
const accesses = Array.from({ length: plan.clients }, () => shared ?? new RemoteCells(socket as string));
await Promise.all(
  accesses.map(async (access, index) => {
    const client = new Client(plan, first + index, access);
    for (const one of index === 0 ? repeats : []) await client.repeat(one);
    if (audit === undefined) await client.work(plan, since);
    for (const run of audit ?? [])
      for (const kind of ["look", "read"] as const) await client.perform(run, { kind });
  }),
);
for (const access of new Set<Access>(accesses)) await access.close();
