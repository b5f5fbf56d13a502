/** The crowd: which runs the users of a world want, and what they do in it next. All of it is drawn. */
import type { LimitSource } from "../../src/runtime/budget.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Judge } from "./judge.ts";
import type { Ledger, Sent } from "./ledger.ts";
import type { Kind } from "./machines/kind.ts";
import { kinds } from "./machines/kinds.ts";
import type { Time } from "./time.ts";
import type { Users, Wanted } from "./users.ts";

export interface CrowdWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly users: Users;
  readonly judge: Judge;
}

export class Crowd {
  /** The kinds of run in this world. */
  readonly kinds: Kind[] = [];
  readonly #world: CrowdWorld;
  readonly #wanted: Wanted[] = [];
  #sent = 0;

  constructor(world: CrowdWorld) {
    this.#world = world;
  }

  /** Draws the runs there will be, and has them begun. */
  settle(): void {
    const { random, time, users } = this.#world;
    const chosen = random.some(Object.entries(kinds), random.between(1, 3));
    for (const [name, kind] of chosen) {
      this.kinds.push(kind);
      const count = random.between(kind.runsMin ?? 1, kind.runsMax);
      for (let number = 1; number <= count; number++)
        this.#wanted.push({
          ...{ name: `${name}-${number}`, kind, input: kind.input(random) },
          limits: kind.cancellable && random.chance(0.15) ? drawLimits(random) : undefined,
        });
    }
    for (const wanted of this.#wanted) time.after(random.between(0, 2_000), () => void users.begin(wanted));
  }

  /** Sees to what needs a person, now and then: runs that are parked, and letters that nobody took. */
  operate(isCalm: () => boolean): void {
    const { time, random } = this.#world;
    time.after(random.between(2_000, 4_000), () => {
      for (const wanted of this.#wanted) if (isCalm() || random.chance(0.6)) this.#mend(wanted);
      if (random.chance(0.3)) this.#tidy();
      this.operate(isCalm);
    });
  }

  #mend({ name, kind }: Wanted): void {
    const { judge, users, random, time } = this.#world;
    if (kind.mends === undefined || judge.model.find({ run: name })?.head.status !== "parked") return;
    // Some try without having fixed anything, and see it parked again.
    if (random.chance(0.8)) void users.send({ ...this.#draw(name, kind, true), type: kind.mends });
    time.after(random.between(0, 1_000), () => void users.retry(name));
  }

  #tidy(): void {
    const accounts = this.#wanted.filter(({ kind }) => kind === kinds.account);
    if (accounts.length === 0 && this.#world.random.chance(0.7)) return;
    // However often it is tried, a letter goes to the same account.
    void this.#world.users.tidy((number) => accounts[number % accounts.length]?.name ?? "nobody");
  }

  /** Does something with one run; mostly sends it a few things at once. */
  burst(): void {
    const { random, ledger, users } = this.#world;
    const { name, kind } = random.pick(this.#wanted);
    if (!ledger.begun.has(name)) return;
    const drawn = random.next();
    if (drawn < 0.04 && kind.cancellable) return void users.cancel(name);
    if (drawn < 0.1) return void users.read(name);
    if (drawn < 0.12 && kind.machine.definition.checkpoint !== undefined) return void users.checkpoint(name);
    if (drawn < 0.13 && kind.cancellable && !users.waits.has(name)) return void users.wait(name);
    if (drawn < 0.2 && !kind.asks)
      return void users.sendAll(
        Array.from({ length: drawBatch(random) }, () => this.#draw(name, kind, true)),
      );
    if (drawn < 0.4 && kind.speaks !== undefined) return void this.#listen(name, kind.speaks);
    for (let count = random.pick([1, 1, 1, 2, 2, 3, 5]); count > 0; count--) {
      const sent = this.#draw(name, kind, random.chance(0.75));
      if (kind.asks) void users.ask(sent);
      else void users.send(sent);
      if (!kind.asks && sent.key !== undefined && random.chance(0.15)) void users.send(sent);
    }
  }

  /** Listens to something that the run has under way, or had. */
  #listen(name: string, tool: string): void {
    const { random, ledger, users } = this.#world;
    const keys = [...ledger.starts.values()]
      .map(([first]) => first)
      .filter((first) => first?.run === name && first.activity === tool)
      .map((first) => first?.key.slice(name.length + 1) as string);
    if (keys.length > 0) void users.listen(name, random.pick(keys.slice(-2)));
  }

  #draw(run: string, kind: Kind, keyed: boolean): Sent {
    const { random, ledger } = this.#world;
    const peers = this.#wanted
      .filter((one) => one.kind === kind && ledger.begun.has(one.name))
      .map((one) => one.name);
    const n = ++this.#sent;
    const key = keyed ? `key ${n}` : undefined;
    return { ...kind.order(n, random, peers), run, key, tries: 0, acked: undefined, over: false };
  }
}

/** Most batches fit into one turn. */
function drawBatch(random: Random): number {
  return random.chance(0.05) ? 70 : random.between(2, 6);
}

function drawLimits(random: Random): LimitSource {
  const [steps, time] = [random.between(3, 30), random.between(5_000, 60_000)];
  const [tokens, cost] = [random.between(1, 150), random.between(1, 30) / 4];
  return random.pick<LimitSource>([{ steps }, { time }, { tokens }, { cost }, { tokens, cost, steps }]);
}
